# Sums a profile of callgrind by what each instruction belongs to: code generated from SR, semaphores, the rest of the run-time system (which is
# in the executable too), and libraries.
#
# The first file is the executable's symbols in order of address (nm -n), the second the profile by instruction. An instruction is told by its address:
# generated code enters and leaves the run-time by jumps, which callgrind does not take for calls, so the function that it names may be the one before.

# 16 hexadecimal digits, which compare as text.
function padded(address) {
    return substr("0000000000000000" address, length(address) + 1)
}

# The name of the last symbol at or below an address.
function symbol_at(address,    low, high, middle) {
    low = 1
    high = symbols
    while (low < high) {
        middle = int((low + high + 1) / 2)
        if (starts[middle] "" <= address "")
            low = middle
        else
            high = middle - 1
    }
    return names[low]
}

NR == FNR {
    if (NF == 3 && tolower($2) ~ /[tw]/) {
        symbols++
        starts[symbols] = $1
        names[symbols] = $3
    }
    next
}

/^ob=/ { ours = index($0, executable) > 0 }

# The line after says what the called function took in all, which is counted where it was spent.
/^calls=/ { skip = 1; next }

/^0x/ {
    if (skip) {
        skip = 0
        next
    }
    if (!ours) {
        library += $3
        next
    }
    name = symbol_at(padded(substr($1, 3)))
    if (name ~ /^p_/)
        generated += $3
    else if (name ~ /^sr[1n]_[pv]_/)
        semaphores += $3
    else
        scheduling += $3
}

END {
    printf "%.0f %.0f %.0f %.0f\n", generated, semaphores, scheduling, library
}
