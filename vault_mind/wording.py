"""Words by which a sentence may tell what was said in others: words of telling, words that mean the same. Pure data.

Few and plain on purpose: what stands here may be in a memory although its user used another word, or none. Whatever
names, counts, denies or commands does not belong here.
"""

# Words that every memory is told with: who it is of, and the verbs that hold any fact.
TELLING = """
    user users be being been get gets got getting gotten become becomes became have has had having own owns owned owner
    call calls called name names named go by known
    live lives lived living reside resides home based located location residence
    work works worked working job employed employer occupation profession role position workplace working shift shifts
    do does did doing make use uses using practice practise practises
    say says said state states stated mention mentioned report reports reported tell tells told
    currently now today present presently nowadays still already again recently since ago usually normally generally
    typically regularly frequently often mostly mainly primarily particularly especially specifically strongly really
    very quite rather somewhat slightly lot bit little few much many several various also too well plus including
    include
    includes namely such etc approximately about around roughly circa per each via about regarding concerning related
    relating due because reason therefore thus hence consequently order able unable
    early late mid beginning start end middle date day week month year years old age aged time times hour hours o'clock
    person people someone somebody member family household relative pet animal thing things something item kind type
    sort
    stay stays staying remain remains keep keeps kept
    way form place island islands river lake city town village country region area street address school company firm
    business organisation
    organization number amount quantity size length height weight colour color language instrument food drink beverage
    dish ingredient product brand model version device vehicle software tool app program medication medicine drug
    condition disease illness health diet dietary hobby activity event appointment course class subject field industry
    longer anymore whose near nearby beside behind inside outside within across along towards among amongst whom
    take takes taking attend attends attending order orders request requests requested asked ask like likes liked
    liking want wants wanted wish wishes wished
    would prefer prefers preferred preference preferences favor favour love loves loved enjoy enjoys enjoyed enjoying
    plan plans planned planning intend intends intended going will shall can could may find finds found consider
    considers
    considered feel feels address addressed refer referred spell spelled spelt written reply replies answer answers
    response responses assistant conversation chat message messages
    named unit units information turns turning
    namens genannten anfang mitte ende début milieu principios mediados finales
    nutzer nutzers nutzerin nutzerinnen benutzer benutzers benutzerin heißt heißen heisst nennt genannt wohnt wohnen
    lebt leben arbeitet
    arbeiten hat haben ist sind mag mögen möchte möchten will bevorzugt gern gerne liebt jahr jahre alt derzeit zurzeit
    llamados llamadas llamada
    usuario usuaria llama llamarse llamado vive vivir trabaja trabajar tiene tener es está ser gusta gustan prefiere
    quiere
    años edad actualmente
    nommé nommée nommés nommées appelés appelées
    utilisateur utilisatrice appelle appelé habite vit vivre travaille travailler avoir est aime préfère veut ans âge
    utente chiama vive abita lavora ha avere piace preferisce vuole anni
    gebruiker heet woont werkt heeft houdt wil jaar
    usuário utilizador utilizadora chama mora trabalha tem gosta prefere quer anos
    användaren användare heter bor arbetar jobbar har gillar vill år brugeren hedder arbejder kan lide brukeren
    użytkownik użytkowniczka nazywa mieszka pracuje ma lubi woli пользователь зовут живет живёт работает любит
"""

# Each line: words of which one may stand for another.
SAME = """
    move relocate resettle
    live move relocate settle
    child children kid kids
    son boy
    daughter girl
    mother mum mom mama
    father dad papa
    grandmother grandma granny nan
    grandfather grandpa granddad
    wife spouse married marry partner
    husband spouse married marry partner
    wedding marry married marriage
    over above
    under below
    stepfather stepdad
    stepmother stepmum stepmom
    sibling brother
    sibling sister
    twin twins
    buy bought purchase purchased acquire acquired
    sell sold
    begin began begun start started
    finish finished complete completed done end ended
    quit stop stopped quitting give gave given up abandon
    leave left leaving quit departed
    run runs ran running jog
    expire expires run ran out
    teach teaches taught teacher teaching
    drive drives drove driven driver
    eat eats ate eaten eating
    drink drinks drank drunk drinking
    drink alcohol
    grow grows grew grown raise raised
    speak speaks spoke spoken
    write writes wrote written writing
    take takes took taken taking
    give gives gave given
    know knows knew known
    come comes came
    find found
    keep keeps kept store
    meet meets met
    swim swims swam
    sleep sleeps slept asleep
    build builds built
    choose chose chosen pick
    hold holds held
    pay pays paid
    ride rides rode ridden
    see saw seen
    spend spends spent
    wear wears wore worn
    win won
    lose lost losing
    break broke broken
    fall fell fallen
    hear hears heard hearing
    send sent
    think thought
    bring brought
    catch caught
    lend lent
    read reads
    man men
    woman women
    person people
    tooth teeth
    foot feet
    mouse mice
    knife knives
    life lives living
    car vehicle automobile estate
    bike bicycle cycle cycling
    phone telephone mobile cellphone
    flat apartment
    tv television telly
    film movie
    holiday vacation
    fridge refrigerator
    lift elevator
    trousers pants
    garden yard
    autumn fall
    colour color
    favourite favorite
    grey gray
    doctor dr physician gp
    maths math mathematics
    sci-fi science fiction
    reply answer response
    short brief concise
    long detailed lengthy
    email mail e-mail
    big large
    small little
    bad poor
    good great
    ill sick
    fear afraid scared frightened terrified
    goal aim target want hope objective
    chunk split break broken
    short kurz
    duzen duze duzt geduzt
    siezen sieze siezt gesiezt
    tutoyer tutoie tutoyé tutoyée
    allergic allergy allergies
    intolerant intolerance
    diabetic diabetes
    coeliac celiac
    asthma asthmatic
    vegetarian vegetarianism
    vegan veganism
    alone single
    born birth birthday
    work working job employ workplace
    study student studies studying
    wake wakes woke woken up rise rises
    get up wakes wake rises
    every each daily
    all everything everyone every whole entire always
    only sole solely just exclusively nothing
    always constantly permanently invariably
    permanently good
    switch change swap move
    need require must
    need should
    use used utilise
    own possess
    boss manager supervisor
    colleague coworker co-worker
    neighbour neighbor
    friend mate
    dislike hate detest loathe stand bear
    avoid without
    carry bag pocket
    repair fix mend
    trip journey travel
    cold chilly
    hot warm
    prefer favourite favor
    cook cooking
    till until
    clinic hospital
    half halve
    rent rental
    earn salary
    weigh weight
    tall height
    cost price
    learn learning learnt
    speak language
    mother native
    play player
    forward forwards facing
    formally formal
    soon shortly
    degree studied graduate
    split separate separated broke
    esse isst essen
    lese liest lesen
    fahre fährt fahren
    spreche spricht sprechen
    nehme nimmt nehmen
    schlafe schläft schlafen
    trage trägt tragen
    laufe läuft laufen
    helfe hilft helfen
    treffe trifft treffen
    cours court courir
    bois boit boire
    fais fait faire
    lis lit lire
    écris écrit écrire
    prends prend prendre
    dors dort dormir
    conduis conduit conduire
    hago hace hacer
    conduzco conduce conducir
    juego juega jugar
    duermo duerme dormir
    vengo viene venir
    die died dead passed death
"""

# A sentence that denies, and words that deny by what they mean.
NEGATIONS = """
    not no never none nor neither nothing nobody nowhere without cannot can't won't don't doesn't didn't isn't aren't
    wasn't
    weren't hasn't haven't hadn't wouldn't couldn't shouldn't mustn't ain't dont doesnt didnt isnt cant wont non
    nicht kein keine keinen keinem keiner keines nie niemals nichts ohne niemand weder
    no nunca jamás nada sin ningún ninguna ninguno tampoco ni
    ne pas jamais rien aucun aucune sans ni n'
    mai niente senza nessun nessuno nessuna
    niet geen nooit niets zonder não nunca nem sem inte ingen inget aldrig utan ikke aldri uten uden
    nie nigdy bez не нет никогда без
"""
DENYING = """
    hate hates hated dislike dislikes disliked detest loathe avoid avoids avoided stop stopped stopping quit leave
    left leaving
    lack lacks unable former formerly ex used refuse refuses refused except instead rather previously past gave give
    given
    giving dead died sold lost anymore cancelled ended split retired impossible abneigung hasst hasse odia odio déteste
"""
# Words of the user's by which they do not have, eat or do a thing, without a "not".
FORBIDDING = """
    wrong mistake mistaken stand bear over blind childish deaf only few hardly rarely seldom against low barely allergic
    intolerant coeliac celiac vegan vegetarian incorrect incorrectly free allergy intolerance
"""
# What denied food, drink and things are not: they may be told where both deny.
TAKING = """
    eating drinking using consuming eat eats eaten consume consumes drink drinks use uses tolerate
    tolerates contain contains containing
"""
LIKING = """
    like likes liked love loves loved enjoy enjoys enjoyed adore adores fond fan favourite favorite prefers prefer
"""
DISLIKING = "hate hates hated dislike dislikes disliked detest detests loathe loathes"
HEDGES = """
    if when whenever might may maybe perhaps could would wish wishes wished consider considers considering think thinks
    thinking imagine imagines hypothetical hypothetically novel story game book character pretend pretends dream dreams
    possibly possible case unless should suppose
    wenn falls vielleicht würde wünscht roman si quizás tal vez peut-être roman もし
"""
REPORTING = """
    say says said tell tells told claim claims claimed according think thinks thought believe believes write wrote
    report
    reports reported diagnosed diagnosis advised advises recommended consider considers call calls
    sagt sagte laut meint behauptet dice dijo según dit selon dice secondo
"""
# Words that narrow or widen what is said; they must be in the user's words too.
STRICT = (
    "only all every both more most less least before after above below exclusively solely nobody everybody everyone"
)

PEOPLE = """
    sister brother mother father mum mom mama dad papa son daughter wife husband partner girlfriend boyfriend friend
    cousin
    aunt uncle niece nephew grandmother grandfather grandma grandpa granny colleague coworker boss manager neighbour
    neighbor
    flatmate roommate teacher student child children kid kids baby twin twins godson goddaughter stepmother
    stepfather stepson stepdad stepmum stepmom stepbrother stepsister grandson granddaughter fiancé fiancée
    stepdaughter landlord landlady doctor dentist therapist lawyer ex ex-husband ex-wife mother-in-law father-in-law
    sister-in-law brother-in-law parents parent siblings sibling cat dog pet horse rabbit hamster parrot bird team
    plumber
    sisters brothers sons daughters friends cousins aunts uncles nieces nephews grandparents colleagues coworkers
    neighbours neighbors flatmates roommates teachers students landlords doctors cats dogs pets supervisor advisor
    adviser tutor professor mentor coach client clients customer customers tenant tenants nanny
    söhne töchter kind kinder eltern brüder freunde freundinnen kollegen kollegin kollege nachbarn hunde katzen
    hijos hijas padres hermanos hermanas amigos amigas vecinos perros gatos niños
    enfant enfants fils filles frères sœurs soeurs parents amis amies collègue collègues voisins chiens chats
    onkel tante oma opa großmutter großvater tío tía abuelo abuela oncle
    schwester bruder mutter vater sohn tochter frau mann freund freundin hund katze chef chefin nachbar nachbarin
    hermana hermano madre padre hijo hija mujer marido esposa esposo amigo amiga perro gato jefe jefa vecino vecina
    soeur sœur frère mère père fils fille femme mari ami amie chien chat patron
"""

NUMBERS = (
    "zero|null|cero|zéro one|an|a|eins|ein|eine|uno|una|un|une two|zwei|dos|deux|due|twee|två|to|couple|pair"
    "|both|twice|二"
    " three|drei|tres|trois|tre|drie|三 four|vier|cuatro|quatre|quattro|fyra|四 five|fünf|cinco|cinq|cinque|vijf|fem|五"
    " six|sechs|seis|sei|zes|sex|六 seven|sieben|siete|sept|sette|zeven|sju|七 eight|acht|ocho|huit|otto|åtta|八"
    " nine|neun|nueve|neuf|nove|negen|nio|九 ten|zehn|diez|dix|dieci|tien|tio|十 eleven|elf|once|onze|undici|elva"
    " twelve|zwölf|doce|douze|dodici|twaalf|tolv|dozen thirteen|dreizehn|trece fourteen|vierzehn|catorce"
    " fifteen|fünfzehn|quince sixteen|sechzehn seventeen|siebzehn eighteen|achtzehn nineteen|neunzehn twenty"
    "|zwanzig|veinte|vingt"
)
ORDINALS = (
    "zeroth first|once second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
TENS = "thirty forty fifty sixty seventy eighty ninety hundred"
UNITS = """
    € euro euros eur
    $ dollar dollars usd
    £ pound pounds gbp
    % percent per cent
    kg kilo kilos kilogram kilograms kilogramme kilogrammes
    g gram grams
    mg milligram milligrams
    µg mcg microgram micrograms
    km kilometre kilometres kilometer kilometers
    m metre metres meter meters
    cm centimetre centimetres centimeter centimeters
    l litre litres liter liters
    ml millilitre millilitres
    h hour hours
    min minute minutes
    am a.m
    pm p.m
    st stone
"""
# Each line: one thing by its other names, which hold for names as well.
ALIASES = """
    postgres postgresql
    javascript js
    typescript ts
    kubernetes k8s
    vscode vs-code
"""
MONTHS = (
    "january|jan|januar|enero|janvier|gennaio|januari february|feb|februar|febrero|février|febbraio|februari"
    " march|mar|märz|marzo|mars|maart april|apr|abril|avril|aprile may|mai|mayo|maggio|mei|maj june|jun|juni"
    "|junio|juin|giugno"
    " july|jul|juli|julio|juillet|luglio august|aug|agosto|août|augustus|augusti september|sep|sept|septiembre"
    "|septembre|settembre"
    " october|oct|oktober|octubre|octobre|ottobre november|nov|noviembre|novembre december|dec|dezember"
    "|diciembre|décembre|dicembre"
)
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
SEASONS = (
    "spring|frühling|frühjahr|primavera|printemps summer|sommer|verano|été|estate"
    " autumn|fall|herbst|otoño|automne|autunno winter|invierno|hiver|inverno"
)
# Words by which a text speaks of a time that is reckoned from now, in other languages than English.
RELATIVE = """
    gestern heute morgen übermorgen vorgestern letzte letzten letztes letzter nächste nächsten nächstes nächster vorige
    vorigen diese diesen dieses kommende kommenden seit vor ab
    diesem dieser ayer hoy mañana próximo próxima pasado pasada este esta desde hace dentro
    cet cette ce hier aujourd'hui demain prochain prochaine dernier dernière depuis dans
    ieri oggi domani prossimo prossima scorso scorsa da fa gisteren vandaag volgende vorige sinds igår idag imorgon
    nästa förra
"""
RELATIVE_CJK = "昨日 今日 明日 来月 先月 今月 来年 去年 今年 来週 先週 今週 昨年 上个月 下个月 明年 昨天 明天 今天"
