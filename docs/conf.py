import shutil
from pathlib import Path

import sciagent

HERE = Path(__file__).parent

project = "sciagent"
author = "the sciagent developers"
copyright = "the sciagent developers, Apache-2.0"
version = release = sciagent.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
]
exclude_patterns = ["_build", "jupyter_execute", "**.ipynb_checkpoints"]

# The tutorials that are notebooks lie where they are run; here are copies of them.
(HERE / "tutorials" / "notebooks").mkdir(exist_ok=True)
for notebook in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
    shutil.copy2(notebook, HERE / "tutorials" / "notebooks" / notebook.name)

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300

autodoc_typehints = "description"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"sciagent {release}"
