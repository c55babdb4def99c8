"""Arrays, frames, series and tensors by value: exact dtypes, no subclass, no objects inside. Symmetric: both sides use it.

A library is imported where something of it first arrives; who has none of its values never pays for it.
"""

from __future__ import annotations

import base64
import importlib
import re
import sys
from typing import Any

from .values import CONTAINERS, Container

_LIBRARIES = frozenset(("numpy", "pandas", "torch"))
_PLAIN_DTYPE = re.compile(r"[<>|=]?[biufcSUMm]\d{0,9}(\[\d{0,4}(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?")
_EXTENSION = re.compile(r"(string(\[\w+\])?|str|boolean|U?Int(8|16|32|64)|Float(32|64)|period\[[\w-]{1,20}\])")
_VIEWED = 4  # an array is sent whole for a view of at least a quarter of it
_TENSOR = re.compile(r"(float16|float32|float64|bfloat16|complex64|complex128|u?int(8|16|32|64)|bool)")


def library_of(kind: type) -> str:
    """Return the library that a type belongs to, or derives from a class of; empty for none of these."""
    if not _LIBRARIES.isdisjoint(sys.modules):
        for base in type.__getattribute__(kind, "__mro__")[:-1]:
            name = str(type.__getattribute__(base, "__module__")).partition(".")[0]
            if name in _LIBRARIES:
                return name
    return ""


def encode(codec: object, value: object, library: str) -> object:
    """Return what stands for a value of a library in a message; None for an object that does not cross by value."""
    return {"numpy": _numpy, "pandas": _pandas, "torch": _torch}[library](codec, value)


def _raw(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: Any) -> bytes:
    return base64.b64decode(text, validate=True)


# ------------------------------------------------------------------------------------------------ numpy


def _descr(dtype: Any) -> object:
    return dtype.str if dtype.names is None else [list(part) for part in dtype.descr]


def _dtype(descr: object) -> object:
    """Read a dtype: plain ones by their text, structured ones field by field, nothing that holds objects."""
    numpy = importlib.import_module("numpy")
    if type(descr) is str and (_PLAIN_DTYPE.fullmatch(descr) or descr == "|O"):
        return numpy.dtype(descr)
    if type(descr) is not list:
        raise TypeError("not a dtype")
    fields = [(str(part[0]), _dtype(part[1]), *(tuple(map(int, shape)) for shape in part[2:])) for part in descr]
    found = numpy.dtype(fields)
    if found.hasobject:
        raise TypeError("not a dtype")
    return found


def _numpy(codec: Any, value: object) -> object:
    numpy: Any = sys.modules["numpy"]
    if isinstance(value, numpy.ndarray):
        array = numpy.asarray(value)
        if array.dtype.kind == "V" and array.dtype.hasobject:
            return None
        return codec.encode_container(value, "ND")
    if isinstance(value, numpy.generic) and value.dtype.kind in "biufcSUMm":
        exact = value.dtype.type(value) if type(value) is not value.dtype.type else value
        return {"np": [value.dtype.str, _raw(exact.tobytes()), codec.encode(exact.item())]}
    if isinstance(value, numpy.dtype) and not value.hasobject:
        return {"nd": _descr(value)}
    if isinstance(value, type) and issubclass(value, numpy.generic):
        return {"nt": value.__name__}
    return None


def _scalar(dtype: object, raw: object, plain: object) -> object:
    """A Python scalar; where the tests use numpy, or Python has none, numpy's own of the same dtype."""
    if "numpy" not in sys.modules and type(plain) in (bool, int, float, complex, str, bytes):
        return plain
    found = _dtype(dtype)
    return importlib.import_module("numpy").frombuffer(_bytes(raw), found, 1)[0]


def _array_contents(value: object) -> list[object]:
    array = sys.modules["numpy"].asarray(value)  # of a subclass the data, of a masked array what is below the mask too
    return list(array.ravel()) if array.dtype.kind == "O" else [array.tobytes()]


def _fill_array(value: Any, contents: list[object]) -> None:
    numpy: Any = sys.modules["numpy"]
    if value.dtype.kind == "O":
        value[...] = _unflat("|O", contents).reshape(value.shape)
    else:
        value[...] = numpy.frombuffer(contents[0], value.dtype).reshape(value.shape)


def _array_extra(value: Any) -> object:
    """The dtype and shape; of a view also where it lies in its array, so that both go on sharing memory."""
    numpy: Any = sys.modules["numpy"]
    array = numpy.asarray(value)
    whole = value.base if type(value.base) is numpy.ndarray else None
    while whole is not None and type(whole.base) is numpy.ndarray:
        whole = whole.base
    if (
        whole is None
        or not whole.flags.c_contiguous
        or whole.dtype.hasobject
        or whole.nbytes > _VIEWED * array.nbytes + 4096
    ):
        return _descr(array.dtype), tuple(array.shape)
    offset = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return _descr(array.dtype), tuple(array.shape), whole, offset, tuple(array.strides)


def _new_array(cls: Any, extra: Any) -> object:
    numpy = importlib.import_module("numpy")
    descr, shape, *view = extra
    shape, dtype = tuple(map(int, shape)), _dtype(_listed(descr))
    if view:
        whole, offset, strides = view
        if type(whole) is numpy.ndarray and whole.flags.c_contiguous and whole.flags.writeable:
            return numpy.ndarray(shape, dtype, whole, int(offset), tuple(map(int, strides)))
    return numpy.empty(shape, dtype)


def _listed(value: Any) -> object:
    return [_listed(part) for part in value] if type(value) in (list, tuple) else value


def _flat(array: Any) -> tuple[object, object]:
    """A column's dtype and bytes, or its elements where these are objects."""
    return ("|O", list(array)) if array.dtype.kind == "O" else (_descr(array.dtype), array.tobytes())


def _unflat(descr: object, data: Any) -> Any:
    numpy = importlib.import_module("numpy")
    if descr != "|O":
        return numpy.frombuffer(data, _dtype(_listed(descr))).copy()
    array = numpy.empty(len(data), object)
    for at, part in enumerate(data):
        array[at] = part
    return array


# ------------------------------------------------------------------------------------------------ pandas


def _pandas(codec: Any, value: object) -> object:
    pandas: Any = sys.modules["pandas"]
    if isinstance(value, (pandas.DataFrame, pandas.Series)):
        return codec.encode_container(value, "DF" if isinstance(value, pandas.DataFrame) else "SR")
    if isinstance(value, pandas.Index):
        return {"pi": codec.encode(_index(value))}
    if isinstance(value, pandas.Timestamp):
        zone = value.tz
        return {"pt": [value.unit, int(value.asm8.astype("int64")), None if zone is None else str(zone)]}
    if isinstance(value, pandas.Timedelta):
        return {"pd": [value.unit, int(value.asm8.astype("int64"))]}
    if value is pandas.NaT or value is pandas.NA:
        return {"pn": "NaT" if value is pandas.NaT else "NA"}
    if isinstance(value, pandas.api.extensions.ExtensionArray):
        return {"pa": codec.encode(_column(pandas.Series(value)))}
    if isinstance(value, (pandas.Interval, pandas.Period)):
        plain = (
            (value.left, value.right, value.closed)
            if isinstance(value, pandas.Interval)
            else (str(value), value.freqstr)
        )
        return {"pv": codec.encode(plain)}
    return None


def _column(series: Any) -> tuple[object, ...]:
    """A column's values: numpy's as they are, else a kind and parts."""
    pandas: Any = sys.modules["pandas"]
    dtype = series.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        return "category", *_flat(series.cat.codes.to_numpy()), _index(dtype.categories), bool(dtype.ordered)
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return "zoned", *_flat(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()), str(dtype.tz)
    if isinstance(dtype, sys.modules["numpy"].dtype):
        return "numpy", *_flat(series.to_numpy())
    return str(dtype), [None if part is pandas.NA or part != part else part for part in series.astype(object)]


def _values(column: Any) -> Any:
    pandas: Any = importlib.import_module("pandas")
    kind, *parts = column
    if kind == "numpy":
        return _unflat(*parts)
    if kind == "category":
        *codes, categories, ordered = parts
        return pandas.Categorical.from_codes(_unflat(*codes), _new_index(categories), bool(ordered))
    if kind == "zoned":
        return pandas.Series(_unflat(*parts[:2])).dt.tz_localize("UTC").dt.tz_convert(str(parts[2])).array
    if not _EXTENSION.fullmatch(kind):
        raise TypeError("not a column")
    return pandas.array(parts[0], dtype=kind)


def _index(index: Any) -> tuple[object, ...]:
    pandas: Any = sys.modules["pandas"]
    if isinstance(index, pandas.RangeIndex):
        return "range", index.start, index.stop, index.step, index.name
    if isinstance(index, pandas.MultiIndex):
        return (
            "multi",
            [_index(level) for level in index.levels],
            [list(map(int, part)) for part in index.codes],
            list(index.names),
        )
    freq = getattr(index, "freqstr", None)
    return "plain", _column(pandas.Series(index.array)), index.name, freq


def _new_index(parts: Any) -> object:
    pandas: Any = importlib.import_module("pandas")
    kind, *rest = parts
    if kind == "range":
        return pandas.RangeIndex(*rest[:3], name=rest[3])
    if kind == "multi":
        return pandas.MultiIndex([_new_index(level) for level in rest[0]], rest[1], names=rest[2])
    column, name, freq = rest
    values = _values(column)
    if freq is not None:
        made = pandas.DatetimeIndex if getattr(values, "dtype", None) is not None and values.dtype.kind == "M" else None
        if made is not None or str(getattr(values, "dtype", "")).startswith("datetime64"):
            return pandas.DatetimeIndex(values, freq=str(freq), name=name)
    return pandas.Index(values, dtype=values.dtype, name=name)


def _frame_contents(value: Any) -> list[object]:
    columns = [_column(value.iloc[:, at]) for at in range(value.shape[1])]
    return [_index(value.columns), _index(value.index), columns]


def _new_frame(columns: object, index: object, values: list[object]) -> object:
    pandas: Any = importlib.import_module("pandas")
    rows = _new_index(index)
    parts = {at: pandas.Series(_values(column), index=rows, copy=True) for at, column in enumerate(values)}
    frame = pandas.DataFrame(parts, index=rows, columns=range(len(values)))
    frame.columns = _new_index(columns)
    return frame


def _series_contents(value: Any) -> list[object]:
    return [_column(value), _index(value.index), value.name]


def _new_series(column: object, index: object, name: object) -> object:
    return importlib.import_module("pandas").Series(_values(column), index=_new_index(index), name=name, copy=True)


def _refill(make: Any) -> Any:
    def fill(value: Any, contents: list[object]) -> None:
        made = make(*contents)
        value._update_inplace(made)
        if made.ndim == 1:
            value.name = made.name

    return fill


# ------------------------------------------------------------------------------------------------ torch


def _torch(codec: Any, value: object) -> object:
    torch: Any = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        return codec.encode_container(value, "TT") if _TENSOR.fullmatch(str(value.dtype)[6:]) else None
    if isinstance(value, torch.dtype) and _TENSOR.fullmatch(str(value)[6:]):
        return {"td": str(value)[6:]}
    if isinstance(value, torch.Size):
        return {"T": [int(part) for part in value]}
    return None


def _tensor_contents(value: Any) -> list[object]:
    torch: Any = sys.modules["torch"]
    plain = value.detach().cpu().resolve_conj().resolve_neg().contiguous().as_subclass(torch.Tensor)
    return [plain.reshape(-1).view(torch.uint8).numpy().tobytes()]


def _new_tensor(cls: object, extra: Any) -> object:
    torch = importlib.import_module("torch")
    name, shape, grad = extra
    if not _TENSOR.fullmatch(name):
        raise TypeError("not a tensor")
    made = torch.zeros(tuple(map(int, shape)), dtype=getattr(torch, name))
    return made.requires_grad_() if grad is True else made


def _fill_tensor(value: Any, contents: list[Any]) -> None:
    torch: Any = sys.modules["torch"]
    data = (
        torch.frombuffer(bytearray(contents[0]), dtype=value.dtype)
        if contents[0]
        else torch.zeros(0, dtype=value.dtype)
    )
    value.data.copy_(data.reshape(value.shape))


CONTAINERS.update(
    ND=Container(object, _array_contents, _fill_array, _array_extra, _new_array),
    DF=Container(
        object,
        _frame_contents,
        _refill(_new_frame),
        make=lambda cls, extra: importlib.import_module("pandas").DataFrame(),
    ),
    SR=Container(
        object,
        _series_contents,
        _refill(_new_series),
        make=lambda cls, extra: importlib.import_module("pandas").Series(dtype=object),
    ),
    TT=Container(
        object,
        _tensor_contents,
        _fill_tensor,
        lambda value: (str(value.dtype)[6:], tuple(value.shape), bool(value.requires_grad)),
        _new_tensor,
    ),
)
# their contents are compared, not their elements' identities
BY_CONTENTS = frozenset(("ND", "DF", "SR", "TT", "BA", "A"))


def decode(codec: Any, tag: str, body: Any) -> object:
    """Return the value of a library that a part of a message stands for."""
    if tag == "np":
        return _scalar(body[0], body[1], codec.decode(body[2]))
    if tag == "nd":
        return _dtype(_listed(body))
    if tag == "nt":
        numpy = importlib.import_module("numpy")
        kind = getattr(numpy, str(body))
        if not (isinstance(kind, type) and issubclass(kind, numpy.generic)):
            raise TypeError("not a type of numpy")
        return kind
    if tag == "td":
        if not _TENSOR.fullmatch(body):
            raise TypeError("not a dtype")
        return getattr(importlib.import_module("torch"), body)
    pandas: Any = importlib.import_module("pandas")
    if tag == "pi":
        return _new_index(codec.decode(body))
    if tag == "pa":
        return pandas.array(_values(codec.decode(body)))
    if tag == "pt":
        stamp = pandas.Timestamp(int(body[1]), unit=str(body[0])).as_unit(str(body[0]))
        return stamp if body[2] is None else stamp.tz_localize("UTC").tz_convert(str(body[2]))
    if tag == "pd":
        return pandas.Timedelta(int(body[1]), unit=str(body[0])).as_unit(str(body[0]))
    if tag == "pn":
        return pandas.NaT if body == "NaT" else pandas.NA
    parts = codec.decode(body)
    return pandas.Interval(*parts) if len(parts) == 3 else pandas.Period(parts[0], freq=parts[1])


TAGS = frozenset(("np", "nd", "nt", "td", "pi", "pa", "pt", "pd", "pn", "pv"))
