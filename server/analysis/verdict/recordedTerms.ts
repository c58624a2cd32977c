/**
 * Which reward terms judge the answer, by their names: another trainer's run says no more of them. Two names that a reader would not
 * doubt are enough; where none is such, nothing is guessed.
 */
const shape =
  /format|fmt|(?:^|[_-])(?:len|tags?|xml)(?:[_-]|$)|xmlcount|length|think|brev|short|concis|style|repet|penal|overlong|language|structur/i;
const answer =
  /correct|accura|(?:^|[_-])acc(?:[_-]|$)|answer|solv|exact|math|verif|equal|gsm|(?:^|[_-])(?:pass|tests?)(?:[_-]|$)/i;

/** The terms of `reward/<term>`. @param names of metrics */
export const recordedTerms = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => /^reward\/((?!total$)[^/]+)$/.exec(name)?.[1] ?? []);

/** Empty: the names do not say. */
export function answerTerms(terms: readonly string[]): readonly string[] {
  const others = terms.filter((term) => !shape.test(term));
  const named = others.filter((term) => answer.test(term));
  if (named.length > 0) return named;
  return others.length < terms.length ? others : [];
}
