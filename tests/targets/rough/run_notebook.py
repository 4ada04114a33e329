"""Executes train.ipynb: the training happens in a kernel that this process starts."""

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read("train.ipynb", as_version=4)
NotebookClient(notebook, timeout=300).execute()
print("".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())))
