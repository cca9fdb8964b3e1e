# Marks removed entries and never gives their slots back.
cd repo
python3 - <<'P'
t = open("src/map.c").read()
t = t.replace("    slot->key = NULL;\n    slot->value = NULL;\n", "    slot->key = checked(strdup(\"\"));\n    slot->value = NULL;\n")
t = t.replace("if (map->slots[at].key)\n            *find", "if (map->slots[at].key && map->slots[at].key[0])\n            *find")
open("src/map.c", "w").write(t)
m = open("src/main.c").read().replace("if (map->slots[at].key)", "if (map->slots[at].key && map->slots[at].key[0])")
open("src/main.c", "w").write(m)
P
