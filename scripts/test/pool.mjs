// Runs jobs side by side: more of them than there are processors, since each waits a part of its time.

/**
 * Takes the next job that may start whenever a slot is free: one more than `processors` of those that compute, and
 * `processors` of those that wait for other processes. Jobs start in the order of the list. `done(job, result)` is called
 * once a job, when it ends.
 */
export async function runPool(jobs, { processors, run, done }) {
  const open = [...jobs];
  const room = { computing: processors + 1, waiting: processors };
  const kindOf = ({ waits }) => (waits ? "waiting" : "computing");
  const next = () => {
    const index = open.findIndex((job) => room[kindOf(job)] > 0);
    return index < 0 ? undefined : open.splice(index, 1)[0];
  };
  const slot = async () => {
    for (let job = next(); job !== undefined; job = next()) {
      room[kindOf(job)] -= 1;
      const result = await run(job);
      room[kindOf(job)] += 1;
      done(job, result);
    }
  };
  await Promise.all(Array.from({ length: room.computing + room.waiting }, slot));
}
