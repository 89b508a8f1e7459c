"""Reading: one file per format in, the same types out.

The flow is the same for every source: bytes of a file or a dataframe become a `Table` of arrow
columns, a table in one of the known layouts is brought into the tidy one (one row per vote),
names become codes, labels become classes, and `Annotations` or `Predictions` come out. Files
larger than memory take the same way in batches that are summed as they come.

Nothing here loads pyarrow or narwhals before it is needed. What users call is listed in
`equipoise` itself.
"""
