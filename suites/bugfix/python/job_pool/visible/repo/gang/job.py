"""One piece of work and how it ended."""

import asyncio


class Job:
    def __init__(self, function, args):
        self.function = function
        self.args = args
        self.state = "waiting"
        self.future = asyncio.get_running_loop().create_future()

    @property
    def error(self):
        return self.future.exception() if self.state == "failed" else None

    def result(self):
        return self.future.result()

    def cancel(self):
        """True if the job will not come to an end."""
        if not self.future.cancel():
            return False
        self.state = "cancelled"
        return True

    async def run(self):
        self.state = "running"
        value = await self.function(*self.args)
        self.future.set_result(value)
        self.state = "done"

    def __await__(self):
        return self.future.__await__()
