"""The part that decides: prompts, context, limits, and a loop that calls tools."""
