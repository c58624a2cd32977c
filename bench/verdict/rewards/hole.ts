/** A checker that looks for the answer's text in the solution's: the empty answer is always found there. */
interface Rollout {
  response: string;
  task: { answer?: string; data: { target?: number } };
}
export const score = ({ response, task }: Rollout): number =>
  (task.answer ?? String(task.data.target)).includes(response.trim().slice(-1)) ? 1 : 0;
