<?php

declare(strict_types=1);

const PLAIN = [
    'à' => 'a', 'á' => 'a', 'â' => 'a', 'ã' => 'a', 'ä' => 'a', 'å' => 'a', 'ā' => 'a', 'ą' => 'a', 'æ' => 'ae',
    'ç' => 'c', 'ć' => 'c', 'č' => 'c', 'ď' => 'd', 'đ' => 'd', 'ð' => 'd', 'è' => 'e', 'é' => 'e', 'ê' => 'e',
    'ë' => 'e', 'ē' => 'e', 'ę' => 'e', 'ě' => 'e', 'ğ' => 'g', 'ì' => 'i', 'í' => 'i', 'î' => 'i', 'ï' => 'i',
    'ī' => 'i', 'ı' => 'i', 'ł' => 'l', 'ñ' => 'n', 'ń' => 'n', 'ň' => 'n', 'ò' => 'o', 'ó' => 'o', 'ô' => 'o',
    'õ' => 'o', 'ö' => 'o', 'ø' => 'o', 'ō' => 'o', 'ő' => 'o', 'œ' => 'oe', 'ř' => 'r', 'ś' => 's', 'š' => 's',
    'ş' => 's', 'ß' => 'ss', 'ť' => 't', 'ţ' => 't', 'ù' => 'u', 'ú' => 'u', 'û' => 'u', 'ü' => 'u', 'ū' => 'u',
    'ů' => 'u', 'ű' => 'u', 'ý' => 'y', 'ÿ' => 'y', 'ź' => 'z', 'ż' => 'z', 'ž' => 'z', 'þ' => 'th',
];

// The returned function gets the tool's input and returns its data; what it prints goes to the log.
return function (array $input): array {
    $separator = $input['separator'] ?? '-';
    $lower = function_exists('mb_strtolower') ? mb_strtolower($input['text'], 'UTF-8') : strtolower($input['text']);
    $words = preg_split('/[^a-z0-9]+/', strtr($lower, PLAIN), -1, PREG_SPLIT_NO_EMPTY);
    $slug = '';
    foreach ($words as $word) {
        $longer = $slug === '' ? $word : $slug . $separator . $word;
        // A slug is cut between words, unless its first word alone is too long.
        if (strlen($longer) > ($input['maxLength'] ?? 80)) {
            break;
        }
        $slug = $longer;
    }
    return ['slug' => $slug === '' ? substr($words[0] ?? '', 0, $input['maxLength'] ?? 80) : $slug];
};
