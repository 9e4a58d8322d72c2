"""ResearchHarness, with its own defaults, and no tool but the one that is given."""

import os

from benchmarks.peers.child import Question, count_characters_for_tokens, serve


def answer(question: Question) -> str:
    """Ask a fresh agent in the current folder."""
    from researchharness import create_agent, tool

    here = os.getcwd()  # noqa: PTH109 - the peer takes a text
    agent = create_agent(
        model_name="scripted",
        api_key="none",
        api_base=question.base_url,
        max_input_tokens=question.window_tokens,
        workspace_root=here,
        tools=[tool(question.reader())],
        require_env=False,
    )
    return str(agent.run(question.text, workspace_root=here))


if __name__ == "__main__":
    count_characters_for_tokens()
    serve(answer)
