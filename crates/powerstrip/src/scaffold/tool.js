'use strict';

module.exports = function run(input) {
  return { greeting: `Hello, ${input.name}!` };
};
