"""A kernel's client and manager that do not wait longer than they must.

Those of Jupyter listen for a fifth of a second to a kernel that has nothing more to say, and look
only ten times a second whether it has ended. A campaign starts many kernels.
"""

import time
from queue import Empty

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

_REPLY_S = 1.0
_OUTPUT_S = 0.2
_POLL_S = 0.02


class PromptClient(AsyncKernelClient):
    """Takes a kernel for ready as soon as it has answered on both channels."""

    async def _async_wait_for_ready(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 - as Jupyter calls it
    ) -> None:
        limit = time.monotonic() + (float("inf") if timeout is None else timeout)
        while not await self._answers():
            if not await self._async_is_alive():
                raise RuntimeError("it died before it answered")
            if time.monotonic() > limit:
                raise RuntimeError(f"it did not answer within {timeout:g} s")

    wait_for_ready = _async_wait_for_ready

    async def _answers(self) -> bool:
        """Ask the kernel about itself; true if both the reply and its last output arrive."""
        asked = self.kernel_info()
        try:
            reply = await self.shell_channel.get_msg(timeout=_REPLY_S)
            while True:
                told = await self.iopub_channel.get_msg(timeout=_OUTPUT_S)
                is_own = told["parent_header"].get("msg_id") == asked
                if is_own and told["content"].get("execution_state") == "idle":
                    break
        except Empty:  # outputs are not heard until the kernel knows of the subscription
            return False
        self._handle_kernel_info_reply(reply)
        return True


class PromptKernel(AsyncKernelManager):
    """Notices soon that a kernel has ended."""

    async def _async_wait(self, pollinterval: float = _POLL_S) -> None:
        await super()._async_wait(min(pollinterval, _POLL_S))
