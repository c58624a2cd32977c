/**
 * Pays for saying no more than is needed: 0 for a response as short as an expression over the task's numbers can be,
 * and −1 for one that is twice as long. Whether the expression is right is not this function's business.
 */
interface Input {
  readonly response: string;
  readonly task: { readonly data: { readonly numbers?: readonly number[] } };
}

export function score({ response, task }: Input): number {
  const numbers = task.data.numbers ?? [];
  // The digits of every number, and an operator between each two.
  const needed = numbers.reduce((sum, number) => sum + String(number).length, 0) + numbers.length - 1;
  return Math.max(-1, Math.min(0, (needed - response.length) / needed));
}
