import { setTo } from "../mend.ts";
import { found, verlRule } from "../rule.ts";

const [logger, resume, every] = ["trainer.logger", "trainer.resume_mode", "trainer.save_freq"];

export const fileLogger = verlRule({
  id: "verl-file-logger",
  title: "A log that a resumed run erases",
  why: "`FileLogger` (verl/utils/tracking.py) opens `<project_name>/<experiment_name>.jsonl`, or `VERL_FILE_LOGGER_PATH`, anew each time. A run that is resumed under the same name loses what it had logged.",
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
    const message = `Checkpoints are kept every ${frequency} steps and \`resume_mode\` is \`${mode}\`: a resumed run of the same \`experiment_name\` begins the \`file\` log anew, and what was in it is gone.`;
    return found(model, [logger, resume, every], message, {
      fixes: mode === "auto" ? [setTo(model, resume, "disable")] : [],
    });
  },
});
