import { setTo } from "../fixes.ts";
import { found, verlRule } from "../rule.ts";

const [logger, resume, every] = ["trainer.logger", "trainer.resume_mode", "trainer.save_freq"];

export const fileLogger = verlRule({
  id: "verl-file-logger",
  title: "Resumed run erases its log",
  why: "`FileLogger` (verl/utils/tracking.py) overwrites `<project_name>/<experiment_name>.jsonl`, or `VERL_FILE_LOGGER_PATH`, each time. A run that resumes under the same name loses its earlier log.",
  severity: "warning",
  since: "0.6.0",
  check(model) {
    const value = model.value(logger);
    const loggers = Array.isArray(value) ? value : [value];
    const [mode, frequency] = [model.text(resume), model.number(every)];
    if (
      !loggers.includes("file") ||
      mode === undefined ||
      mode === "disable" ||
      frequency === undefined ||
      frequency <= 0
    )
      return [];
    const message = `verl saves a checkpoint every ${frequency} steps and \`resume_mode\` is \`${mode}\`, so a resumed run of the same \`experiment_name\` overwrites its \`file\` log.`;
    return found(model, [logger, resume, every], message, {
      fixes: mode === "auto" ? [setTo(model, resume, "disable")] : [],
    });
  },
});
