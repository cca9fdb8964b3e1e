# Catches what a job raises, but not what becomes of cancelled ones.
cd repo
sed -i 's/^            await job.run()/            try:\n                await job.run()\n            except Exception as error:\n                job.state = "failed"\n                job.future.set_exception(error)/' gang/pool.py
