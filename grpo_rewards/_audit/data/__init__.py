"""The audit of data: is a data set fit to train on? `running` takes the rows, `checks` are what is looked for."""
