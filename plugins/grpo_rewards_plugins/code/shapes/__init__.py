"""The shapes of tests behind all data sets: pairs of texts, calls, check functions, statements and files.

`reading` decides which of them a cell is, by its look and by what the row's other columns say; each shape has a module.
"""
