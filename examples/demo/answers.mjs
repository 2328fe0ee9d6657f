// Makes up answers to a form: the same for the same reviewer and study, always such that the form can be completed.

const phrases = {
  clusterUnit: ['general practices', 'clinics', 'districts', 'wards'],
  country: ['Northmoor', 'Lakeside County', 'Port Ellery', 'Calder Plains', 'Greyfjord'],
  registrationId: ['REG-000417', 'REG-001932', 'REG-002204', 'REG-003561'],
  otherComponent: ['inhaler technique coaching', 'telephone follow-up', 'a smartphone diary'],
  adverseEventsDetail: ['dizziness during the exercises, two people', 'one admission, judged unrelated'],
  remarks: ['The flow diagram and the text disagree by one person.', 'Standard deviations were read off a figure.',
    'Asked the authors for the missing scores.', 'Methods are in an earlier report.'],
};

/* mulberry32: small, and the same everywhere. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const pick = (random, list) => list[Math.floor(random() * list.length)];
const within = (random, question, most) => {
  const low = Number(question.min ?? 0);
  return low + random() * (Math.min(Number(question.max ?? most), low + most) - low);
};

function valueOf(question, random) {
  switch (question.kind) {
    case 'text': return pick(random, phrases[question.id] ?? ['as reported']);
    case 'integer': return Math.round(within(random, question, 400));
    case 'decimal': return within(random, question, 60).toFixed(2);
    case 'boolean': return random() < 0.4;
    case 'choice': return question.id === 'eligible' && random() < 0.8 ? 'include' : pick(random, question.options).id;
    case 'multichoice': return question.options.filter((_, i) => i === 0 || random() < 0.3).map((option) => option.id);
    case 'date': return `${2004 + Math.floor(random() * 18)}-0${1 + Math.floor(random() * 9)}-15`;
    default: throw new Error(`no answers are made up for questions of kind ${question.kind}`);
  }
}

function isAsked(question, answers) {
  if (!question.parent) return true;
  const above = answers.get(question.parent.questionId);
  if (above === undefined) return false;
  const wanted = question.parent.anyOf ?? [];
  return wanted.length === 0 || [above].flat().some((value) => wanted.includes(String(value)));
}

/** Map of question id to value, in the form's order. */
export function makeAnswers(questions, reviewer, study) {
  const random = randomOf(reviewer * 1000003 + study * 7919 + 17);
  const answers = new Map();
  for (const question of questions) {
    if (isAsked(question, answers) && (question.required || random() < 0.8)) {
      answers.set(question.id, valueOf(question, random));
    }
  }
  return answers;
}
