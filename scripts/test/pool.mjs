// Runs jobs side by side, one a processor.

/**
 * Takes the next job that may start whenever a slot is free; of a group, one job runs at a time. Jobs start in the order
 * of the list. `done(job, result)` is called once a job, when it ends.
 */
export async function runPool(jobs, { slots, run, done }) {
  const open = [...jobs];
  const running = new Set();
  const next = () => {
    const index = open.findIndex(({ group }) => group === undefined || !running.has(group));
    return index < 0 ? undefined : open.splice(index, 1)[0];
  };
  const slot = async () => {
    for (let job = next(); job !== undefined; job = next()) {
      running.add(job.group);
      const result = await run(job);
      running.delete(job.group);
      done(job, result);
    }
  };
  await Promise.all(Array.from({ length: slots }, slot));
}
