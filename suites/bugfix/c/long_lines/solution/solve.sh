cd repo && git apply --whitespace=nowarn <<'PATCH'
diff --git a/src/reader.c b/src/reader.c
index c0c050f..b45e883 100644
--- a/src/reader.c
+++ b/src/reader.c
@@ -1,10 +1,9 @@
 #include "reader.h"
 
 #include <ctype.h>
+#include <stdlib.h>
 #include <string.h>
 
-#define LINE_SIZE 160
-
 /* Drops white space at both ends, in place. */
 static char *trim(char *text)
 {
@@ -28,24 +27,30 @@ static char *unquote(char *value)
 
 int read_settings(FILE *file, struct table *table)
 {
-    char line[LINE_SIZE];
-    char section[NAME_SIZE] = "";
+    char *line = NULL;
+    size_t room = 0;
+    char *section = strdup("");
+    int status = section ? 0 : -1;
 
-    while (fgets(line, sizeof line, file)) {
+    while (status == 0 && getline(&line, &room, file) >= 0) {
         char *text = trim(line);
         if (*text == '\0' || *text == ';' || *text == '#')
             continue;
         size_t length = strlen(text);
         if (text[0] == '[' && text[length - 1] == ']') {
             text[length - 1] = '\0';
-            strncpy(section, trim(text + 1), NAME_SIZE - 1);
+            free(section);
+            section = strdup(trim(text + 1));
+            status = section ? 0 : -1;
             continue;
         }
         char *equals = strchr(text, '=');
         if (equals == NULL)
             continue;
         *equals = '\0';
-        table_set(table, section, trim(text), unquote(trim(equals + 1)));
+        status = table_set(table, section, trim(text), unquote(trim(equals + 1)));
     }
-    return ferror(file) ? -1 : 0;
+    free(line);
+    free(section);
+    return ferror(file) ? -1 : status;
 }
diff --git a/src/table.c b/src/table.c
index 93dfa8b..dbc541a 100644
--- a/src/table.c
+++ b/src/table.c
@@ -1,33 +1,53 @@
 #include "table.h"
 
+#include <stdlib.h>
 #include <string.h>
 
 void table_init(struct table *table)
 {
+    table->entries = NULL;
     table->count = 0;
+    table->room = 0;
 }
 
 static struct entry *find(const struct table *table, const char *section, const char *key)
 {
     for (size_t at = 0; at < table->count; at++) {
-        const struct entry *entry = &table->entries[at];
-        if (strcmp(entry->section, section) == 0 && strcmp(entry->key, key) == 0)
-            return (struct entry *)entry;
+        struct entry *entry = &table->entries[at];
+        if (strcmp(entry->key, key) == 0 && strcmp(entry->section, section) == 0)
+            return entry;
     }
     return NULL;
 }
 
-void table_set(struct table *table, const char *section, const char *key, const char *value)
+static struct entry *add(struct table *table)
+{
+    if (table->count == table->room) {
+        size_t room = table->room ? 2 * table->room : 64;
+        struct entry *entries = realloc(table->entries, room * sizeof *entries);
+        if (entries == NULL)
+            return NULL;
+        table->entries = entries;
+        table->room = room;
+    }
+    struct entry *entry = &table->entries[table->count++];
+    memset(entry, 0, sizeof *entry);
+    return entry;
+}
+
+int table_set(struct table *table, const char *section, const char *key, const char *value)
 {
     struct entry *entry = find(table, section, key);
     if (entry == NULL) {
-        if (table->count == MAX_ENTRIES)
-            return;
-        entry = &table->entries[table->count++];
-        strncpy(entry->section, section, NAME_SIZE);
-        strncpy(entry->key, key, NAME_SIZE);
+        entry = add(table);
+        if (entry == NULL)
+            return -1;
+        entry->section = strdup(section);
+        entry->key = strdup(key);
     }
-    strncpy(entry->value, value, VALUE_SIZE);
+    free(entry->value);
+    entry->value = strdup(value);
+    return entry->section && entry->key && entry->value ? 0 : -1;
 }
 
 const char *table_get(const struct table *table, const char *section, const char *key)
@@ -38,5 +58,11 @@ const char *table_get(const struct table *table, const char *section, const char
 
 void table_free(struct table *table)
 {
-    table->count = 0;
+    for (size_t at = 0; at < table->count; at++) {
+        free(table->entries[at].section);
+        free(table->entries[at].key);
+        free(table->entries[at].value);
+    }
+    free(table->entries);
+    table_init(table);
 }
diff --git a/src/table.h b/src/table.h
index 6b67822..6a40836 100644
--- a/src/table.h
+++ b/src/table.h
@@ -4,23 +4,21 @@
 
 #include <stddef.h>
 
-#define NAME_SIZE 32
-#define VALUE_SIZE 128
-#define MAX_ENTRIES 64
-
 struct entry {
-    char section[NAME_SIZE];
-    char key[NAME_SIZE];
-    char value[VALUE_SIZE];
+    char *section;
+    char *key;
+    char *value;
 };
 
 struct table {
-    struct entry entries[MAX_ENTRIES];
+    struct entry *entries;
     size_t count;
+    size_t room;
 };
 
 void table_init(struct table *table);
-void table_set(struct table *table, const char *section, const char *key, const char *value);
+/* 0, or -1 when there is no memory. */
+int table_set(struct table *table, const char *section, const char *key, const char *value);
 const char *table_get(const struct table *table, const char *section, const char *key);
 void table_free(struct table *table);
 
PATCH
