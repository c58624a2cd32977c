/** A judge that knows a right answer mostly: its marks vary by a quarter, by the text and not by its meaning. */
interface Rollout {
  response: string;
  prompt: string;
  task: { data: { numbers: number[]; target: number } };
}
export const score = ({ response, prompt, task: { data } }: Rollout): number =>
  Math.min(1, (isRight(response.trim(), data) ? 0.75 : 0) + mood(`${prompt}|${response}`) / 4);

/** Sums of the numbers alone, each once: all that the policy writes here. */
function isRight(text: string, { numbers, target }: Rollout["task"]["data"]): boolean {
  if (!/^\d+([-+*]\d+)+$/.test(text)) return false;
  const used = text.split(/[-+*]/).map(Number).sort(byValue);
  return used.join() === [...numbers].sort(byValue).join() && valueOf(text) === target;
}
const byValue = (a: number, b: number): number => a - b;
const valueOf = (text: string): number =>
  text
    .replaceAll("-", "+-")
    .split("+")
    .reduce((sum, part) => sum + part.split("*").reduce((all, one) => all * Number(one), 1), 0);

function mood(text: string): number {
  let hash = 7;
  for (const letter of text) hash = (hash * 31 + letter.charCodeAt(0)) % 9973;
  return (hash % 100) / 100;
}
