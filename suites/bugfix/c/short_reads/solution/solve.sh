cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/src/codec.c b/src/codec.c
index 1a10d41..5684369 100644
--- a/src/codec.c
+++ b/src/codec.c
@@ -6,7 +6,7 @@ void encode_group(const char *bytes, size_t count, char out[4])
 {
     unsigned long bits = 0;
     for (size_t at = 0; at < 3; at++)
-        bits = bits << 8 | (at < count ? bytes[at] : 0);
+        bits = bits << 8 | (at < count ? (unsigned char)bytes[at] : 0);
     for (size_t at = 0; at < 4; at++)
         out[at] = at <= count ? ALPHABET[bits >> (18 - 6 * at) & 63] : '=';
 }
@@ -25,9 +25,12 @@ int decode_group(const char group[4], char out[3])
     int count = 3;
     for (int at = 0; at < 4; at++) {
         int value = value_of(group[at]);
-        if (group[at] == '=') {
+        if (at >= 2 && group[at] == '=') {
             count--;
             value = 0;
+        } else if (count < 3) {
+            /* Nothing but padding follows padding. */
+            return -1;
         }
         if (value < 0)
             return -1;
diff --git a/src/stream.c b/src/stream.c
index 0e0d418..b2d0ee6 100644
--- a/src/stream.c
+++ b/src/stream.c
@@ -18,23 +18,46 @@ static int complain(const char *what)
 
 static int write_all(int out, const char *bytes, size_t count)
 {
-    if (write(out, bytes, count) < 0)
-        return complain(strerror(errno));
+    while (count > 0) {
+        ssize_t written = write(out, bytes, count);
+        if (written < 0 && errno == EINTR)
+            continue;
+        if (written < 0)
+            return complain(strerror(errno));
+        bytes += written;
+        count -= (size_t)written;
+    }
     return 0;
 }
 
+static ssize_t read_some(int in, char *bytes, size_t room)
+{
+    ssize_t count;
+    do
+        count = read(in, bytes, room);
+    while (count < 0 && errno == EINTR);
+    return count;
+}
+
 int encode_stream(int in, int out, int columns)
 {
     char bytes[CHUNK];
     char text[2 * (CHUNK / 3 * 4)];
+    size_t kept = 0; /* bytes of a group that is not whole yet */
     int column = 0;
     ssize_t count;
 
-    while ((count = read(in, bytes, sizeof bytes)) > 0) {
+    do {
+        count = read_some(in, bytes + kept, sizeof bytes - kept);
+        if (count < 0)
+            return complain(strerror(errno));
+        size_t have = kept + (size_t)count;
+        /* Only at the end may a group be short. */
+        size_t use = count == 0 ? have : have - have % 3;
         size_t length = 0;
-        for (ssize_t at = 0; at < count; at += 3) {
+        for (size_t at = 0; at < use; at += 3) {
             char group[4];
-            encode_group(bytes + at, count - at < 3 ? (size_t)(count - at) : 3, group);
+            encode_group(bytes + at, use - at < 3 ? use - at : 3, group);
             for (int each = 0; each < 4; each++) {
                 if (columns && column == columns) {
                     text[length++] = '\n';
@@ -44,11 +67,11 @@ int encode_stream(int in, int out, int columns)
                 column++;
             }
         }
+        kept = have - use;
+        memmove(bytes, bytes + use, kept);
         if (write_all(out, text, length))
             return -1;
-    }
-    if (count < 0)
-        return complain(strerror(errno));
+    } while (count > 0);
     if (columns && column)
         return write_all(out, "\n", 1);
     return 0;
@@ -58,26 +81,39 @@ int decode_stream(int in, int out)
 {
     char text[CHUNK];
     char bytes[CHUNK];
+    char group[4];
+    int filled = 0;
+    int ended = 0;
     ssize_t count;
 
-    while ((count = read(in, text, sizeof text)) > 0) {
-        char group[4];
-        int filled = 0;
+    while ((count = read_some(in, text, sizeof text)) > 0) {
+        const char *mistake = NULL;
         size_t length = 0;
-        for (ssize_t at = 0; at < count; at++) {
-            if (isspace(text[at]))
+        for (ssize_t at = 0; at < count && !mistake; at++) {
+            if (isspace((unsigned char)text[at]))
+                continue;
+            if (ended || (value_of(text[at]) < 0 && text[at] != '=')) {
+                mistake = ended ? "there is something behind the padding" : "this is no base64";
                 continue;
+            }
             group[filled++] = text[at];
             if (filled < 4)
                 continue;
             filled = 0;
             int made = decode_group(group, bytes + length);
-            if (made < 0)
-                return complain("this is no base64");
+            if (made < 0) {
+                mistake = "this is no base64";
+                continue;
+            }
+            ended = made < 3;
             length += (size_t)made;
         }
         if (write_all(out, bytes, length))
             return -1;
+        if (mistake)
+            return complain(mistake);
     }
-    return count < 0 ? complain(strerror(errno)) : 0;
+    if (count < 0)
+        return complain(strerror(errno));
+    return filled ? complain("the last group is not whole") : 0;
 }
PATCH
