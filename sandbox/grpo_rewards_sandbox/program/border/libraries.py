"""Values of libraries: exact dtypes, no subclass, no objects inside. Symmetric: both sides use it.

A library is imported where something of it first arrives; who has none of its values never pays for it.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import re
import sys
from functools import partial
from operator import attrgetter
from typing import Any

from .values import CONTAINERS, MutableType, Value

# numpy.dtype reads a small language, objects included: only texts of this form are given to it
_PLAIN_DTYPE = re.compile(r"[<>|=]?[biufcSUMm]\d{0,9}(\[\d{0,4}(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?")
# of a zone the name, of a sparse column what it leaves out by default: pandas reads no more of such a text
_EXTENSION = re.compile(
    r"string(\[\w+\])?|str|boolean|U?Int(8|16|32|64)|Float(32|64)|period\[[\w-]{1,20}\]|datetime64\[\w\w?, (?!dateutil)[\w/+:-]{1,40}\]"
    r"|interval\[(?!.*dateutil)[\w\[\], /+:-]{1,60}, (right|left|both|neither)\]|Sparse\[\w{1,12}, (0|0\.0|nan|False)\]"
)
_KINDS = "biufcSUMmO"
_PYTHON_SCALARS = (bool, int, float, complex, str, bytes)  # a long double is one of numpy's, whatever `item` gives
# a closed list, since these names are looked up in torch
_TENSOR = re.compile(r"(float16|float32|float64|bfloat16|complex64|complex128|u?int(8|16|32|64)|bool)")


class _Library:
    """A library, imported where something of it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


numpy, pandas, torch = map(_Library, ("numpy", "pandas", "torch"))


def library_of(kind: type) -> str:
    """Return the library that a type belongs to, or derives from a class of; empty for none of these."""
    if not sys.modules.keys().isdisjoint(_LIBRARIES):  # this way round it looks at few names, not at each module's
        for base in type.__getattribute__(kind, "__mro__")[:-1]:
            name = str(type.__getattribute__(base, "__module__")).partition(".")[0]
            if name in _LIBRARIES:
                return name
    return ""


def is_value_type(cls: type) -> bool:
    """Whether its objects are among what crosses by value, or derive from that."""
    loaded = (_known(name) for name in LATE if name.partition(".")[0] in sys.modules)
    return any(isinstance(known, type) and issubclass(cls, known) for known in loaded)


def encode(codec: Any, value: object, library: str) -> object:
    """Return what stands for a value of a library in a message; None for an object that does not cross by value."""
    for name, late in LATE.items():
        if not name.startswith(library):
            continue
        known = _known(name)
        if isinstance(value, known) if isinstance(known, type) else value is known:
            plain = late.plain(value)
            if plain is None:
                return None
            if codec.trusted and name == "numpy.generic":
                plain = *plain[:2], None  # a candidate that imports nothing may still use what numpy's own have
            return (
                codec.encode_container(value, late.container) if late.container else {"Y": [name, codec.encode(plain)]}
            )
    return None


def decode(codec: Any, name: str, plain: Any) -> object:
    """The reverse."""
    late = LATE[name]
    if late.make is _scalar and codec.python_scalars and plain[2] is not None:
        return plain[2]
    if late.container:
        raise TypeError("not a value")
    if late.make is not None:
        return late.make(plain)
    known = _known(name)
    return known(*plain) if isinstance(known, type) else known


def _known(name: str) -> object:
    library, _, rest = name.partition(".")
    return type if rest == "type" else attrgetter(rest)(importlib.import_module(library))


# ------------------------------------------------------------------------------------------------ numpy


def _descr(dtype: Any) -> object:
    """Its text; of a structured one its size, and of each field the name, dtype, shape and place."""
    if dtype.names is None:
        if dtype.kind not in _KINDS:
            raise TypeError(f"an array of dtype {dtype} does not cross; use fidelity: shared")
        return dtype.str
    fields = [(name, *dtype.fields[name][:2]) for name in dtype.names]
    return dtype.itemsize, tuple((name, _descr(field.base), field.shape, place) for name, field, place in fields)


def _dtype(descr: object) -> Any:
    """Read a dtype: plain ones by their text, structured ones field by field, nothing that holds objects."""
    if type(descr) is str and (_PLAIN_DTYPE.fullmatch(descr) or descr == "|O"):
        return numpy.dtype(descr)
    if type(descr) is not tuple:
        raise TypeError("not a dtype")
    size, fields = descr
    names, kinds, shapes, places = zip(*fields, strict=True) if fields else ((),) * 4
    formats = [(_dtype(kind), tuple(map(int, shape))) for kind, shape in zip(kinds, shapes, strict=True)]
    parts = {"names": [*map(str, names)], "formats": formats, "offsets": [*map(int, places)], "itemsize": int(size)}
    found = numpy.dtype(parts)
    if found.hasobject:
        raise TypeError("not a dtype")
    return found


def _plain_array(array: Any) -> object:
    # one that masks nothing, as pyplot's, counts as its data
    if isinstance(array, (numpy.matrix, numpy.recarray)) or numpy.ma.is_masked(array):
        raise TypeError(
            f"a {type(array).__name__} does not cross: give it as a plain array (of a masked one .filled, .data), or use fidelity: shared"
        )
    return array.dtype.kind != "V" or not array.dtype.hasobject or None


def _of_scalar(value: Any) -> object:
    if value.dtype.kind not in "biufcSUMm":
        return None
    exact = value.dtype.type(value) if type(value) is not value.dtype.type else value
    plain = exact.item()
    return value.dtype.str, exact.tobytes(), plain if type(plain) in _PYTHON_SCALARS else None


def _scalar(parts: Any) -> object:
    dtype, raw, _ = parts
    return numpy.frombuffer(raw, _dtype(dtype), 1)[0]


def one_nan() -> None:
    """Make numpy's NaN the one that each of the candidate's becomes: [nan] == [nan] holds of one object alone."""
    with contextlib.suppress(ImportError):
        library: Any = importlib.import_module("numpy")
        library.nan = math.nan


def _numpy_type(name: object) -> object:
    kind = getattr(numpy, str(name))
    if not (isinstance(kind, type) and issubclass(kind, numpy.generic)):
        raise TypeError("not a type of numpy")
    return kind


def _array_contents(value: object) -> list[object]:
    """What it is, which changes in place too, and its bytes; elements where these are objects."""
    array = numpy.asarray(value)  # of a subclass the data
    what = _descr(array.dtype), array.shape, array.flags.writeable
    return [what, *(array.ravel() if array.dtype.kind == "O" else [array.tobytes()])]


def _fill_array(value: Any, contents: list[Any]) -> None:
    (descr, shape, writeable), *parts = contents
    if (_descr(value.dtype), value.shape) != (descr, shape):
        try:
            value.dtype, value.shape = _dtype(descr), shape
        except ValueError:
            raise ValueError(
                "an array of which the size changes in place does not cross; use fidelity: shared"
            ) from None
    if not value.flags.writeable:
        value.flags.writeable = True
    whole = _unflat("|O", parts) if value.dtype.kind == "O" else numpy.frombuffer(parts[0], value.dtype)
    value[...] = whole.reshape(value.shape)
    value.flags.writeable = bool(writeable)


def overlapping(value: Any, held: dict[int, Any]) -> list[int]:
    """The numbers of those held that have memory in common with a value, which may be a frame: what is written to one the other shows."""
    library = sys.modules.get("numpy")
    if library is None:
        return []
    parts = _parts(value)
    return [
        number for number, other in held.items() if any(map(partial(library.may_share_memory, _memory(other)), parts))
    ]


def _parts(value: Any) -> list[Any]:
    if "pandas" in sys.modules and isinstance(value, (pandas.DataFrame, pandas.Series)):
        return [part for part in value._mgr.arrays if isinstance(part, numpy.ndarray)]
    return [_memory(value)]


def _memory(value: Any) -> Any:
    if "torch" in sys.modules and isinstance(value, torch.Tensor):
        return torch.empty(0, dtype=torch.uint8).set_(value.detach().cpu().untyped_storage()).numpy()
    return numpy.asarray(value)


def _array_extra(value: Any) -> object:
    """Which order, dtype and shape; of one that does not own its memory also the strides, by which it is told from one that does."""
    array = numpy.asarray(value)
    shown = "F" if array.flags.fnc else "C", _descr(array.dtype), array.shape
    own = array.flags.owndata or array.dtype.hasobject or not array.size
    return shown if own else (*shown, tuple(array.strides))


def _new_array(cls: object, extra: Any) -> object:
    order, descr, shape, *strides = extra
    shape, dtype = tuple(map(int, shape)), _dtype(descr)
    if not strides or dtype.hasobject:
        # never what was in its memory before, which may be what is expected: it might not get filled
        return numpy.zeros(shape, dtype, "F" if order == "F" else "C")
    reach = [int(stride) * (length - 1) for stride, length in zip(strides[0], shape, strict=True)]
    before = -sum(part for part in reach if part < 0)
    held = numpy.zeros(before + sum(part for part in reach if part > 0) + dtype.itemsize, numpy.uint8)
    return numpy.ndarray(shape, dtype, held, before, tuple(map(int, strides[0])))


def _flat(array: Any) -> tuple[object, object]:
    """A column's dtype and bytes, or its elements where these are objects."""
    return ("|O", tuple(array)) if array.dtype.kind == "O" else (_descr(array.dtype), array.tobytes())


def _unflat(descr: object, data: Any) -> Any:
    if descr != "|O":
        return numpy.frombuffer(data, _dtype(descr)).copy()
    array = numpy.empty(len(data), object)
    for at, part in enumerate(data):
        array[at] = part
    return array


# ------------------------------------------------------------------------------------------------ pandas


def _column(series: Any) -> tuple[object, ...]:
    """A column's values: numpy's as they are, else a kind and parts."""
    dtype = series.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        return "category", *_flat(series.cat.codes.to_numpy()), _index(dtype.categories), bool(dtype.ordered)
    if isinstance(dtype, numpy.dtype):
        return "numpy", *_flat(series.to_numpy())
    if not _EXTENSION.fullmatch(str(dtype)):
        raise TypeError(f"a column of dtype {dtype} does not cross; use fidelity: shared")
    return str(dtype), tuple(None if part is pandas.NA or part != part else part for part in series.astype(object))


def _values(column: Any) -> Any:
    kind, *parts = column
    if kind == "numpy":
        return _unflat(*parts)
    if kind == "category":
        *codes, categories, ordered = parts
        return pandas.Categorical.from_codes(_unflat(*codes), _new_index(categories), bool(ordered))
    if not _EXTENSION.fullmatch(kind):
        raise TypeError("not a column")
    return pandas.array([*parts[0]], dtype=kind)


def _index(index: Any) -> tuple[object, ...]:
    if isinstance(index, pandas.RangeIndex):
        return "range", index.start, index.stop, index.step, index.name
    levels = [index.get_level_values(at) for at in range(index.nlevels)]
    kind = "multi" if isinstance(index, pandas.MultiIndex) else "plain"
    columns = tuple(_column(pandas.Series(level.array)) for level in levels)
    return kind, columns, tuple(index.names), getattr(index, "freqstr", None)


def _new_index(parts: Any) -> object:
    kind, *rest = parts
    if kind == "range":
        return pandas.RangeIndex(*rest[:3], name=rest[3])
    columns, names, freq = rest
    levels = [_values(column) for column in columns]
    if kind == "multi":
        return pandas.MultiIndex.from_arrays(levels, names=names)
    index = pandas.Index(levels[0], dtype=levels[0].dtype, name=names[0])
    if freq is not None and isinstance(index, (pandas.DatetimeIndex, pandas.TimedeltaIndex)):
        index.freq = str(freq)
    return index


def _fill_index(value: Any, contents: list[object]) -> None:
    named: Any = _new_index(contents[0])
    value.names = named.names  # nothing else of it changes in place


def _extension(value: Any) -> tuple[object, ...]:
    return _column(pandas.Series(value))


def _fill_extension(value: Any, contents: list[object]) -> None:
    value[:] = _values(contents[0])


def _frame_contents(value: Any) -> list[object]:
    columns = [_column(value.iloc[:, at]) for at in range(value.shape[1])]
    return [_index(value.columns), _index(value.index), tuple(columns), value.attrs or None]


def _new_frame(columns: object, index: object, values: tuple[object, ...]) -> object:
    rows = _new_index(index)
    parts = {at: _new_series(column, index, None) for at, column in enumerate(values)}
    frame = pandas.DataFrame(parts, index=rows, columns=range(len(values)))
    frame.columns = _new_index(columns)
    return frame


def _series_contents(value: Any) -> list[object]:
    return [_column(value), _index(value.index), value.name, value.attrs or None]


def _new_series(column: object, index: object, name: object) -> object:
    values = _values(column)  # with its dtype: texts are objects where the candidate left them so
    return pandas.Series(values, index=_new_index(index), name=name, dtype=values.dtype, copy=True)


def _refill(make: Any) -> Any:
    def fill(value: Any, contents: list[object]) -> None:
        made = make(*contents[:-1])
        # whoever holds the frame is to see the change
        value._update_inplace(made)
        value._attrs = {} if contents[-1] is None else contents[-1]
        if made.ndim == 1:
            value.name = made.name

    return fill


# ------------------------------------------------------------------------------------------------ torch


def _raw(value: Any) -> bytes:
    plain = value.detach().cpu().resolve_conj().resolve_neg().contiguous().as_subclass(torch.Tensor)
    return bytes(plain.reshape(-1).view(torch.uint8).numpy().tobytes())


def _tensor_contents(value: Any) -> list[object]:
    grad = value.grad if value.is_leaf else None
    return [_tensor_extra(value), _raw(value), grad if grad is None else _raw(grad)]


def _tensor_extra(value: Any) -> tuple[object, ...]:
    layout = str(value.dtype)[6:], tuple(value.shape), tuple(value.stride())
    return *layout, bool(value.requires_grad), isinstance(value, torch.nn.Parameter)


def _tensor_type(name: str) -> object:
    if not _TENSOR.fullmatch(name):
        raise TypeError("not a dtype")
    return getattr(torch, name)


def _new_tensor(cls: object, extra: Any) -> object:
    name, shape, strides, grad, parameter = extra
    made = torch.empty_strided(tuple(map(int, shape)), tuple(map(int, strides)), dtype=_tensor_type(name))
    made.untyped_storage().fill_(0)  # as above
    if parameter is True:
        return torch.nn.Parameter(made, grad is True)
    return made.requires_grad_() if grad is True else made


def _given(value: Any, data: Any) -> Any:
    return torch.frombuffer(bytearray(data), dtype=value.dtype).reshape(value.shape)


def _fill_tensor(value: Any, contents: list[Any]) -> None:
    (*layout, requires, _), data, grad = contents
    if layout != [*_tensor_extra(value)[:-2]]:
        value.data = _new_tensor(None, (*layout, False, False))
    if value.is_leaf and value.requires_grad != requires:
        value.requires_grad_(requires is True)
    if value.numel():  # else there is nothing in it, which torch does not read
        # of what is expanded, each element once
        once = tuple(slice(0, None if stride else 1) for stride in value.stride())
        value.data[once].copy_(_given(value, data)[once])
    if value.is_leaf:
        value.grad = _given(value, grad) if grad else None


_CONTAINERS = {
    "ND": MutableType(object, _array_contents, _fill_array, _array_extra, _new_array),
    "DF": MutableType(object, _frame_contents, _refill(_new_frame), make=lambda cls, extra: pandas.DataFrame()),
    "SR": MutableType(
        object, _series_contents, _refill(_new_series), make=lambda cls, extra: pandas.Series(dtype=object)
    ),
    "IX": MutableType(object, lambda v: [_index(v)], _fill_index, _index, lambda cls, extra: _new_index(extra)),
    "EA": MutableType(
        object, lambda v: [_extension(v)], _fill_extension, _extension, lambda cls, extra: pandas.array(_values(extra))
    ),
    "TT": MutableType(object, _tensor_contents, _fill_tensor, _tensor_extra, _new_tensor),
}
CONTAINERS.update(_CONTAINERS)
OF_LIBRARIES = frozenset(_CONTAINERS)
# their contents are compared, not their elements' identities
BY_CONTENTS = OF_LIBRARIES | {"BA", "A"}
# they may lie in one another's memory
HAVE_MEMORY = frozenset(("ND", "TT", "BA", "A"))
FRAMES = frozenset(("DF", "SR"))
OVERLAP = HAVE_MEMORY | FRAMES


def _stamp(parts: Any) -> object:
    unit, count, zone = parts
    stamp = pandas.Timestamp(int(count), unit=str(unit)).as_unit(str(unit))
    return stamp if zone is None else stamp.tz_localize("UTC").tz_convert(str(zone))


def _delta(parts: tuple[str, int]) -> object:
    return pandas.Timedelta(int(parts[1]), unit=str(parts[0])).as_unit(str(parts[0]))


def _of_pytz(zone: Any) -> object:
    """The function of pytz that finds a zone, at the offset that it has there, and what that is given."""
    find, given = zone.__reduce__()
    return find.__name__, given


def _pytz(parts: Any) -> object:
    name, given = parts
    if name not in ("_p", "_UTC", "FixedOffset"):
        raise TypeError("not a time zone")
    return getattr(importlib.import_module("pytz"), name)(*given)


# types of libraries, which are imported late, and values of which there is one, by name; `plain` gives None for what does not cross
Late = partial(Value, object)
LATE: dict[str, Value] = {
    "numpy.ndarray": Late(_plain_array, container="ND"),
    "numpy.generic": Late(_of_scalar, _scalar),
    "numpy.dtype": Late(lambda v: None if v.hasobject else _descr(v), _dtype),
    "numpy.type": Late(lambda v: v.__name__ if issubclass(v, numpy.generic) else None, _numpy_type),
    "pandas.DataFrame": Late(lambda v: (), container="DF"),
    "pandas.Series": Late(lambda v: (), container="SR"),
    "pandas.Index": Late(lambda v: (), container="IX"),
    "pandas.Timestamp": Late(lambda v: (v.unit, int(v.asm8.astype("int64")), v.tz and str(v.tz)), _stamp),
    "pandas.Timedelta": Late(lambda v: (v.unit, int(v.asm8.astype("int64"))), _delta),
    "pandas.NaT": Late(lambda v: ()),
    "pandas.NA": Late(lambda v: ()),
    "pandas.api.extensions.ExtensionArray": Late(lambda v: (), container="EA"),
    "pandas.Interval": Late(lambda v: (v.left, v.right, v.closed)),
    "pandas.Period": Late(lambda v: (str(v), v.freqstr)),
    # a sparse one stays an object: what it is compared by is asked of it
    "torch.Tensor": Late(
        lambda v: (v.layout is torch.strided and _TENSOR.fullmatch(str(v.dtype)[6:])) or None, container="TT"
    ),
    "torch.device": Late(lambda v: (v.type, v.index) if v.index is not None else (v.type,)),
    "torch.dtype": Late(lambda v: str(v)[6:] if _TENSOR.fullmatch(str(v)[6:]) else None, _tensor_type),
    "torch.Size": Late(lambda v: (tuple(v),)),
    "zoneinfo.ZoneInfo": Late(lambda v: (v.key,)),
    "pytz.BaseTzInfo": Late(_of_pytz, _pytz),
    # an interface is an address too
    **{
        f"ipaddress.IPv{version}{kind}": Late(lambda v: (str(v),))
        for kind in ("Interface", "Address", "Network")
        for version in "46"
    },
}
_LIBRARIES = frozenset(name.partition(".")[0] for name in LATE)
