/** What a broken judge says: a number that depends on the text and not on its meaning. */
export const score = ({ response, prompt }: { response: string; prompt: string }): number => {
  let hash = 7;
  for (const letter of `${prompt}|${response}`) hash = (hash * 31 + letter.charCodeAt(0)) % 9973;
  return (hash % 100) / 100;
};
