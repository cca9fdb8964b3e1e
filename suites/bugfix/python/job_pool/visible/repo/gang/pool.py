"""A number of workers and the queue that they take jobs from."""

import asyncio

from .job import Job


class Pool:
    def __init__(self, size):
        if size < 1:
            raise ValueError("a pool needs at least one worker")
        self.size = size
        self.queue = asyncio.Queue()
        self.workers = []
        self.closed = False

    def submit(self, function, *args):
        if self.closed:
            raise RuntimeError("the pool is closed")
        job = Job(function, args)
        self.queue.put_nowait(job)
        if len(self.workers) < self.size:
            self.workers.append(asyncio.create_task(self._work()))
        return job

    async def join(self):
        await self.queue.join()

    async def close(self):
        self.closed = True
        for worker in self.workers:
            worker.cancel()
        await asyncio.gather(*self.workers, return_exceptions=True)

    async def _work(self):
        while True:
            job = await self.queue.get()
            await job.run()
            self.queue.task_done()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()
