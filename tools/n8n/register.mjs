// <n8n's node> tools/n8n/register.mjs <database.sqlite> <JSON: { name, version, nodes }>
// Notes a package as n8n's own installer does, so that Settings > Community nodes lists it.

// Not an import: the Node.js that this repository needs otherwise may not know it.
const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
const [file, packed] = process.argv.slice(2);
const { name, version, nodes } = JSON.parse(packed);
const database = new DatabaseSync(file, { timeout: 10_000 });
const now = new Date().toISOString().replace('T', ' ').replace('Z', '');

database.exec('PRAGMA foreign_keys = ON; BEGIN IMMEDIATE');
database.prepare('DELETE FROM installed_packages WHERE packageName = ?').run(name);
database
	.prepare(
		'INSERT INTO installed_packages (packageName, installedVersion, createdAt, updatedAt) VALUES (?, ?, ?, ?)',
	)
	.run(name, version, now, now);
const insert = database.prepare(
	'INSERT INTO installed_nodes (name, type, latestVersion, package) VALUES (?, ?, ?, ?)',
);
for (const node of nodes) insert.run(node.displayName, node.name, node.version, name);
database.exec('COMMIT');
database.close();
