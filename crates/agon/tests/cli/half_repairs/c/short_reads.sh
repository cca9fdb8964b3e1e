# Fills a buffer before anything is written.
cd repo
sed -i 's/(at < count ? bytes\[at\] : 0)/(at < count ? (unsigned char)bytes[at] : 0)/' src/codec.c
python3 - <<'P'
t = open("src/stream.c").read()
t = t.replace("read(in, bytes, sizeof bytes)", "fill(in, bytes, sizeof bytes)").replace("read(in, text, sizeof text)", "fill(in, text, sizeof text)")
t = t.replace("int encode_stream", "static ssize_t fill(int in, char *to, size_t room)\n{\n    size_t have = 0;\n    ssize_t count;\n    while (have < room && (count = read(in, to + have, room - have)) > 0)\n        have += (size_t)count;\n    return (ssize_t)have;\n}\n\nint encode_stream", 1)
open("src/stream.c", "w").write(t)
P
