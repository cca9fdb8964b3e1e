import asyncio
import unittest

from gang import Pool


async def double(number):
    await asyncio.sleep(0)
    return 2 * number


class Pools(unittest.IsolatedAsyncioTestCase):
    async def test_results(self):
        async with Pool(3) as pool:
            jobs = [pool.submit(double, number) for number in range(10)]
            await pool.join()
        self.assertEqual([job.result() for job in jobs], list(range(0, 20, 2)))

    async def test_await_a_job(self):
        async with Pool(1) as pool:
            self.assertEqual(await pool.submit(double, 4), 8)

    async def test_no_more_than_its_size(self):
        running, most = 0, 0

        async def count():
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1

        async with Pool(2) as pool:
            for _ in range(8):
                pool.submit(count)
            await pool.join()
        self.assertEqual(most, 2)

    async def test_a_closed_pool_takes_no_jobs(self):
        pool = Pool(1)
        await pool.close()
        with self.assertRaises(RuntimeError):
            pool.submit(double, 1)
