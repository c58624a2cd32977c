// Runs jobs side by side: what waits for other processes, or for the disk, leaves room for more than there are processors.

/**
 * Takes the next job that may start whenever a slot is free: one more than `processors` of those that compute, which write
 * files and start programs now and then, and `processors` of those that wait. Jobs start in the order of the list; those
 * that are `alone`, since they fill a machine themselves, come last and one by one.
 * `done(job, result)` is called once a job, when it ends.
 */
export async function runPool(jobs, { processors, run, done }) {
  const open = jobs.filter(({ alone = false }) => !alone);
  const running = { computing: 0, waiting: 0 };
  const kindOf = ({ waits }) => (waits ? "waiting" : "computing");
  const most = { computing: processors + 1, waiting: processors };
  const next = () => {
    const index = open.findIndex((job) => running[kindOf(job)] < most[kindOf(job)]);
    return index < 0 ? undefined : open.splice(index, 1)[0];
  };
  const slot = async () => {
    for (let job = next(); job !== undefined; job = next()) {
      running[kindOf(job)] += 1;
      const result = await run(job);
      running[kindOf(job)] -= 1;
      done(job, result);
    }
  };
  await Promise.all(Array.from({ length: most.computing + most.waiting }, slot));
  open.push(...jobs.filter(({ alone = false }) => alone));
  await slot();
}
