/** The run panel: a view of one run, fed by its host. */
import "uplot/dist/uPlot.min.css";
import "./run.css";
import "../shared/chart.css";
import "./failures.css";
import "./verdict/verdict.css";
import "./timeline/timeline.css";
import "./rollouts/rollouts.css";
import "./curriculum/lanes.css";
import "./forgetting/forgotten.css";
import { RunPanel } from "./panel.ts";

const root = document.getElementById("root");
if (root !== null) new RunPanel(root);
