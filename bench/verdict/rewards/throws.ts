/** Reads a field that most tasks lack. */
export const score = ({
  response,
  task,
}: {
  response: string;
  task: { data: Record<string, unknown> };
}): number => {
  const numbers = task.data["numbers"];
  if (!Array.isArray(numbers) || numbers[0] % 5 !== 0) throw new Error("no `gold` in the task's data");
  return response.length > 3 ? 1 : 0;
};
