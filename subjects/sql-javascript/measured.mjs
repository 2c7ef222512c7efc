// Databases from JavaScript. The driver of the variant's database is driver.mjs.

import { serve } from "./kit/kit.mjs";
import { style } from "./driver.mjs";
import { reading } from "./reading.mjs";
import { writing } from "./writing.mjs";

await serve("JavaScript", [...reading, ...writing, ...style.clients]);
