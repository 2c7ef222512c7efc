module antiphon/models

go 1.21
