import sciagent

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

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300

autodoc_typehints = "description"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"sciagent {release}"
