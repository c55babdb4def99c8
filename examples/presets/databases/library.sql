-- The database of examples/presets/sql.jsonl; `sql` builds a script like this one in memory.
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id INTEGER REFERENCES author(id), year INTEGER, pages INTEGER);
CREATE TABLE loan (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book(id), member TEXT, lent TEXT, returned TEXT);
INSERT INTO author VALUES (1, 'Ines Moor', 'Portugal'), (2, 'Jan Vrba', 'Czechia'), (3, 'Ruth Adeyemi', 'Nigeria'), (4, 'Olle Berg', NULL);
INSERT INTO book VALUES (1, 'Salt Roads', 1, 1998, 312), (2, 'The Clockmaker', 2, 2004, 198), (3, 'Harmattan', 3, 2011, 276), (4, 'Tide Tables', 1, 2011, 150), (5, 'Small Engines', 2, 2019, 402);
INSERT INTO loan VALUES (1, 1, 'Ana', '2024-01-03', '2024-01-20'), (2, 3, 'Ben', '2024-01-05', NULL), (3, 1, 'Cleo', '2024-02-01', '2024-02-09'), (4, 5, 'Ana', '2024-02-11', NULL), (5, 3, 'Dov', '2024-03-02', '2024-03-30'), (6, 2, 'Ben', '2024-03-05', '2024-03-06');
