<?php

return function (array $input): array {
    return ['greeting' => "Hello, {$input['name']}!"];
};
