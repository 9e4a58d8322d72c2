"""The JupyterLab side: persona, server extension, magics, progress and widgets."""
