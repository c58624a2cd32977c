// Multiplies two matrices by the addon that is named, and prints the device. `gradus doctor` and set-up run it, each in a
// process of its own: a library that does not fit may take its process along.
import { createRequire } from "node:module";

const addon = createRequire(import.meta.url)(process.argv[2]);
const matrix = (values) => addon.createTensor([2, 2], addon.TF_FLOAT, Float32Array.from(values));
const no = (name) => ({ name, type: addon.TF_ATTR_BOOL, value: false });
const attributes = [
  no("transpose_a"),
  no("transpose_b"),
  { name: "T", type: addon.TF_ATTR_TYPE, value: addon.TF_FLOAT },
];
const [{ id }] = addon.executeOp("MatMul", attributes, [matrix([1, 2, 3, 4]), matrix([5, 6, 7, 8])], 1);
const product = addon.tensorDataSync(id).join();
if (product !== "19,22,43,50") throw new Error(`[1 2; 3 4] · [5 6; 7 8] gave ${product}`);
process.stdout.write(`TensorFlow ${addon.TF_Version} on the ${addon.isUsingGpuDevice() ? "GPU" : "CPU"}\n`);
