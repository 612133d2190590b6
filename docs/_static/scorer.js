// How results of the search are ranked: pages that explain before pages that list, methods last.
var Scorer = {
  score: ([page, title, anchor, text, score, file, kind]) =>
    score + (page.startsWith("guide/") ? 3 : 0) - (kind === "object" && /\.[a-z_]\w*$/.test(anchor) ? 8 : 0),
  objNameMatch: 11, // the defaults of Sphinx
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
