cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/src/map.c b/src/map.c
index 8544fa3..3cadedd 100644
--- a/src/map.c
+++ b/src/map.c
@@ -77,9 +77,20 @@ bool map_delete(struct map *map, const char *key)
         return false;
     free(slot->key);
     free(slot->value);
-    slot->key = NULL;
-    slot->value = NULL;
     map->used--;
+
+    /* Entries behind the hole that were put there because of it, or of one before it, move up, so that every
+       entry can be reached from its own slot without a gap. */
+    size_t mask = map->size - 1;
+    size_t hole = (size_t)(slot - map->slots);
+    for (size_t at = (hole + 1) & mask; map->slots[at].key; at = (at + 1) & mask) {
+        size_t home = hash(map->slots[at].key) & mask;
+        if (((at - home) & mask) >= ((at - hole) & mask)) {
+            map->slots[hole] = map->slots[at];
+            hole = at;
+        }
+    }
+    map->slots[hole] = (struct slot){NULL, NULL};
     return true;
 }
 
PATCH
