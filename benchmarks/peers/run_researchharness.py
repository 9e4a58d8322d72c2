"""ResearchHarness with the one tool that is given; its process alone imports this."""

from pathlib import Path

from researchharness import create_agent, tool

from benchmarks.peers.child import Question, count_characters_for_tokens, serve


def answer(question: Question) -> str:
    """Ask a fresh agent in the current folder."""
    here = str(Path.cwd())
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
