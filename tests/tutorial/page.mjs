// A page with commands in it: which they are, what the page says they print, and whether that is what they print.
//
// Every fenced block of language `sh` is a step. The block behind it, when nothing but empty lines is between the two, is
// what it prints; a step without one prints nothing. `json` is compared as JSON, anything else line by line.

const FENCE = /^```(\w*)$/;

/** [{ line, command, language, shown }]: line counts from 1; language and shown are null when nothing is printed. */
export function stepsOf(text) {
  const blocks = blocksOf(text.split('\n'));
  const steps = [];
  blocks.forEach((block, at) => {
    if (block.language !== 'sh') return;
    const next = blocks[at + 1];
    const output = next !== undefined && next.language !== 'sh' && next.follows ? next : null;
    steps.push({ line: block.line, command: block.text, language: output?.language ?? null, shown: output?.text ?? null,
      outputLine: output?.line ?? null });
  });
  return steps;
}

function blocksOf(lines) {
  const blocks = [];
  let open = null, follows = false;
  lines.forEach((line, at) => {
    const fence = FENCE.exec(line);
    if (open === null && fence !== null) {
      open = { line: at + 1, language: fence[1], text: '', follows };
    } else if (open !== null && line === '```') {
      blocks.push(open);
      open = null;
      follows = true;
    } else if (open !== null) {
      open.text += `${line}\n`;
    } else if (line.trim() !== '') {
      follows = false;
    }
  });
  if (open !== null) throw new Error(`The block in line ${open.line} is not closed.`);
  return blocks;
}

/* What differs from run to run. Of ids and stamps it still matters which of them are the same. */
const VARIABLE = new RegExp([
  '(?<time>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z)',
  '(?<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})',
  '(?<digest>\\b[0-9a-f]{64}\\b)',
  '(?<request>(?<=urn:evidenced:request:)[0-9a-f]{32})',
  '(?<stamp>\\b\\d{17,19}\\b)',
  '(?<port>(?<=127\\.0\\.0\\.1:)\\d+)',
].join('|'), 'g');

/** Remembers which id of the page is which of the run, over all its steps. */
export class Likeness {
  constructor() {
    this.ofPage = new Map();
    this.ofRun = new Map();
  }

  /** null, or a sentence about the first difference. */
  differ(language, shown, printed) {
    if (shown === null) return printed === '' ? null : `It should print nothing, and prints: ${printed.trimEnd()}`;
    if (language === 'json') return this.#differInJson(shown, printed);
    const ours = shown.split('\n'), theirs = printed.split('\n');
    for (let at = 0; at < Math.max(ours.length, theirs.length); at++) {
      if (this.#same(ours[at], theirs[at])) continue;
      return `Line ${at + 1} should be:\n  ${ours[at] ?? '(none)'}\nand is:\n  ${theirs[at] ?? '(none)'}`;
    }
    return null;
  }

  #differInJson(shown, printed) {
    let ours, theirs;
    try {
      ours = JSON.parse(shown);
      theirs = JSON.parse(printed);
    } catch (error) {
      return `${ours === undefined ? 'What is shown' : 'What it prints'} is no JSON: ${error.message}\n  ${printed}`;
    }
    return this.#differAt('', ours, theirs);
  }

  #differAt(place, ours, theirs) {
    const isTree = (value) => typeof value === 'object' && value !== null;
    if (!isTree(ours) || !isTree(theirs)) {
      const said = JSON.stringify(ours), is = JSON.stringify(theirs);
      return this.#same(said, is) ? null : `${place || 'It'} should be ${said}, and is ${is}`;
    }
    if (Array.isArray(ours) !== Array.isArray(theirs)) return `${place || 'It'} is a list in one of them only`;
    for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      const different = this.#differAt(`${place}/${name}`, ours[name], theirs[name]);
      if (different !== null) return different;
    }
    return null;
  }

  #same(ours, theirs) {
    if (ours === undefined || theirs === undefined) return ours === theirs;
    if (ours.replace(VARIABLE, '\0') !== theirs.replace(VARIABLE, '\0')) return false;
    const seen = [...theirs.matchAll(VARIABLE)];
    return [...ours.matchAll(VARIABLE)].every((match, at) => this.#pair(match, seen[at]));
  }

  #pair(ours, theirs) {
    const kind = (match) => Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    if (kind(ours) !== kind(theirs)) return false;
    if (kind(ours) === 'time') return true;
    if (!this.ofPage.has(ours[0]) && !this.ofRun.has(theirs[0])) {
      this.ofPage.set(ours[0], theirs[0]);
      this.ofRun.set(theirs[0], ours[0]);
    }
    return this.ofPage.get(ours[0]) === theirs[0];
  }
}

const WIDTH = 116;

/** JSON as a person would lay it out: what fits in a line is in one. begun: columns its first line has used already. */
export function laidOut(value, indent = '', begun = indent.length) {
  const flat = inOneLine(value);
  if (begun + flat.length < WIDTH || typeof value !== 'object' || value === null) return flat;
  const inner = `${indent}  `;
  const items = Array.isArray(value) ? value.map((item) => ['', item]) :
    Object.entries(value).map(([name, item]) => [`${JSON.stringify(name)}: `, item]);
  const lines = items.map(([label, item]) => inner + label + laidOut(item, inner, inner.length + label.length));
  const [begin, end] = Array.isArray(value) ? '[]' : '{}';
  return `${begin}\n${lines.join(',\n')}\n${indent}${end}`;
}

function inOneLine(value) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  return `{${Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${inOneLine(item)}`).join(', ')}}`;
}

/** The page with what was printed in the place of what is shown. printed: one text a step. */
export function rewritten(text, steps, printed) {
  const lines = text.split('\n');
  for (let at = steps.length - 1; at >= 0; at--) {
    const { language, shown, outputLine } = steps[at];
    if (shown === null) continue;
    const now = language === 'json' ? `${laidOut(JSON.parse(printed[at]))}\n` : printed[at];
    lines.splice(outputLine, shown.split('\n').length - 1, ...now.split('\n').slice(0, -1));
  }
  return lines.join('\n');
}
