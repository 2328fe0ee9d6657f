// A reader of CSV as RFC 4180 has it: quoted fields may hold commas, line ends and doubled quotes.

export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [], field = '', at = 0, quoted = false;
  const endField = () => { row.push(field); field = ''; };
  const endRow = () => { endField(); rows.push(row); row = []; };
  if (text.charCodeAt(0) === 0xfeff) at = 1;
  for (; at < text.length; at++) {
    const c = text[at]!;
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[at + 1] === '"') field += text[++at];
      else quoted = false;
    } else if (c === '"' && field === '') quoted = true;
    else if (c === ',') endField();
    else if (c === '\n' || c === '\r') {
      if (c === '\r' && text[at + 1] === '\n') at++;
      endRow();
    } else field += c;
  }
  if (quoted) throw new Error('a quoted field has no end');
  if (field !== '' || row.length > 0) endRow();
  return rows;
}

/** One object a row, by the names in the first. */
export function parseRecords(text: string): Record<string, string>[] {
  const [names, ...rows] = parseCsv(text);
  return rows.map((row, i) => {
    if (row.length !== names!.length) throw new Error(`row ${i + 2} has ${row.length} fields, not ${names!.length}`);
    return Object.fromEntries(names!.map((name, at) => [name, row[at]!]));
  });
}
