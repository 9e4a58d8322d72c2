"""deepagents, as it comes, on a chat model of langchain-openai; its process alone imports this."""

from deepagents import create_deep_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from benchmarks.peers.child import Question, count_characters_for_tokens, serve


def answer(question: Question) -> str:
    """Ask a fresh agent."""
    model = ChatOpenAI(model="scripted", base_url=question.base_url, api_key="none")
    if question.window_tokens is not None:
        model.profile = {"max_input_tokens": question.window_tokens}
    agent = create_deep_agent(model=model, tools=[tool(question.reader())])
    state = agent.invoke({"messages": [{"role": "user", "content": question.text}]})
    return str(state["messages"][-1].content)


if __name__ == "__main__":
    count_characters_for_tokens()
    serve(answer)
