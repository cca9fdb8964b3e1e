cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/gang/job.py b/gang/job.py
index c5d3dd8..43bea75 100644
--- a/gang/job.py
+++ b/gang/job.py
@@ -9,6 +9,7 @@ class Job:
         self.args = args
         self.state = "waiting"
         self.future = asyncio.get_running_loop().create_future()
+        self.task = None
 
     @property
     def error(self):
@@ -19,16 +20,54 @@ class Job:
 
     def cancel(self):
         """True if the job will not come to an end."""
-        if not self.future.cancel():
-            return False
-        self.state = "cancelled"
-        return True
+        if self.state == "waiting":
+            self._end("cancelled")
+            return True
+        if self.state == "running":
+            self.task.cancel()
+            return True
+        return False
 
     async def run(self):
+        """Never raises because of the job; only if the worker itself is cancelled."""
+        if self.state != "waiting":
+            return
         self.state = "running"
-        value = await self.function(*self.args)
-        self.future.set_result(value)
-        self.state = "done"
+        self.task = asyncio.ensure_future(self._call())
+        try:
+            await asyncio.wait([self.task])
+        except asyncio.CancelledError:
+            self.task.cancel()
+            await asyncio.wait([self.task])
+            self._settle()
+            raise
+        self._settle()
+
+    async def _call(self):
+        return await self.function(*self.args)
+
+    def _settle(self):
+        if self.task.cancelled():
+            self._end("cancelled")
+        elif error := self.task.exception():
+            self._end("failed", error)
+        else:
+            self._end("done", self.task.result())
+
+    def _end(self, state, value=None):
+        self.state = state
+        # Somebody who awaits the job may have cancelled the future.
+        if self.future.done():
+            return
+        if state == "done":
+            self.future.set_result(value)
+        elif state == "failed":
+            self.future.set_exception(value)
+            # Whoever does not ask for the result is not told at exit, either.
+            self.future.exception()
+        else:
+            self.future.cancel()
 
     def __await__(self):
-        return self.future.__await__()
+        # Shielded: who gives up waiting for a job does not cancel it.
+        return asyncio.shield(self.future).__await__()
diff --git a/gang/pool.py b/gang/pool.py
index 043a949..c7ebbd7 100644
--- a/gang/pool.py
+++ b/gang/pool.py
@@ -31,12 +31,17 @@ class Pool:
         for worker in self.workers:
             worker.cancel()
         await asyncio.gather(*self.workers, return_exceptions=True)
+        while not self.queue.empty():
+            self.queue.get_nowait().cancel()
+            self.queue.task_done()
 
     async def _work(self):
         while True:
             job = await self.queue.get()
-            await job.run()
-            self.queue.task_done()
+            try:
+                await job.run()
+            finally:
+                self.queue.task_done()
 
     async def __aenter__(self):
         return self
PATCH
