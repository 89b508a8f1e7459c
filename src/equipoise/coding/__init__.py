"""Coding: columns of text and numbers become the integer codes of the types.

The flow is the same for every source: a `Table` of arrow columns, in one of the known
layouts, is brought into the tidy layout (one row per vote), then names become codes,
labels become classes, and the columns of `Annotations` or `Predictions` come out.

Nothing here loads pyarrow or narwhals before it is needed, and nothing here knows files.
"""
