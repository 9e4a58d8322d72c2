"""Reports whose every number, figure and statement is a claim with its evidence.

`assemble` resolves what a domain asks for into claims and draws the figures; `markdown` and
`html` print them; `verify` reads the evidence again, and with a re-run computes it again;
`notebooks` writes the notebook that replays a run and the record of what was run.
"""
