# SPDX-License-Identifier: MIT
# Queries on tables in memory: joins, groups, a window, a sort by two threads.
needs=sqlite3
version() { sqlite3 --version | cut -d' ' -f1; }
prepare()
{
	cat >queries.sql <<'SQL'
PRAGMA threads = 2;
CREATE TABLE item (id INTEGER PRIMARY KEY, kind INT, name TEXT, price INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
INSERT INTO item SELECT i, i * 7919 % 101, 'item ' || i * 104729 % 999983,
	i * 31 % 1009 FROM n;
CREATE INDEX by_name ON item (name);
CREATE INDEX by_kind ON item (kind, price);
SELECT kind, count(*), sum(price), min(name) FROM item GROUP BY kind ORDER BY 3;
SELECT count(*) FROM item a JOIN item b ON b.id = a.price WHERE b.kind < 50;
SELECT name, r FROM (SELECT name, rank() OVER
	(PARTITION BY kind ORDER BY price, name) r FROM item) WHERE r = 7 ORDER BY 1;
SELECT max(length(g)) FROM (SELECT group_concat(name) g FROM item GROUP BY kind);
SELECT name FROM item WHERE name LIKE '%99%' ORDER BY price, name LIMIT 20;
DELETE FROM item WHERE id % 3 = 0;
PRAGMA integrity_check;
SELECT count(*), total(price) FROM item;
SELECT no_such_column FROM item;
SQL
}
run()
{
	profiled sqlite3 :memory: <"$DATA/queries.sql"
	echo "status $?"
}
