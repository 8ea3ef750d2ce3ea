'use strict';

// The exported function gets the tool's input and returns its data; what it prints goes to the log.
module.exports = ({ csv, delimiter = ',', header = true }) => {
  const table = parse(csv, delimiter);
  const width = table.reduce((most, row) => Math.max(most, row.length), 0);
  const columns = header ? unique(table.shift() || []) : Array.from({ length: width }, (_, i) => String(i + 1));
  const rows = table.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i] ?? ''])));
  return { columns, rows };
};

function parse(text, delimiter) {
  const table = [];
  let row = [];
  let field = '';
  let quoted = false;
  const endField = () => { row.push(field); field = ''; };
  const endRow = () => { endField(); if (row.length > 1 || row[0] !== '') table.push(row); row = []; };
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') { field += '"'; i += 1; } else quoted = false;
    } else if (c === '"' && field === '') quoted = true;
    else if (c === delimiter) endField();
    else if (c === '\n') endRow();
    else if (c !== '\r' || text[i + 1] !== '\n') field += c;
  }
  endRow();
  return table;
}

// Two columns of one name would hide each other in a record.
function unique(names) {
  const seen = new Map();
  return names.map((name) => {
    const times = (seen.get(name) || 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name}_${times}`;
  });
}
