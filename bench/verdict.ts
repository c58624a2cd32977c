/** Whether the verdict on runs is right: false alarms on healthy runs, misses on failing ones. `[--make=1]` makes the runs first. */
import { option, measured } from "./report.ts";
import { judge, lines } from "./verdict/judge.ts";
import { makeRuns } from "./verdict/queue.ts";

if (option("make", 0) === 1) await makeRuns();
for (const set of ["calibration", "judging"] as const) {
  const judged = judge(set);
  console.log(lines(judged).join("\n"));
  const [healthy, failing] = [
    judged.filter(({ run }) => run.failing === null),
    judged.filter(({ run }) => run.failing !== null),
  ];
  const wrong = (of: typeof judged): number => of.filter((one) => one.wrong).length;
  measured({
    what: `verdict, ${set}: false alarms`,
    value: wrong(healthy),
    unit: `of ${healthy.length} healthy runs`,
  });
  measured({
    what: `verdict, ${set}: misses`,
    value: wrong(failing),
    unit: `of ${failing.length} failing runs`,
  });
}
