# Forgets failures and keeps what is used, but takes undefined for nothing.
cd repo
sed -i 's/      value.then((settled) => store.set(name, Promise.resolve(settled)));/      value.catch(() => store.delete(name));/' lib/index.js
sed -i 's/    return entry.value;/    this.entries.delete(name);\n    this.entries.set(name, entry);\n    return entry.value;/' lib/store.js
